//! Replicas, and waiting until one has applied all that its primary wrote.
//!
//! WAIT is not used for it: Valkey 9.1.2 counts a replica that is still in its
//! first sync (8 of 12 tries: WAIT replied 1, the link was down and the key not
//! there). With the link up, a read after the offsets met was right in 3000 of
//! 3000 tries on Redis 8.2.3, Valkey 8.1.8 and 9.1.2.

use crate::{eventually, Server};

impl Server {
    /// Makes this server a replica of another and waits until it has the data.
    ///
    /// # Panics
    /// If the link is not up and caught up in time.
    pub fn replica_of(&self, primary: &Server) {
        let mut client = self.client();
        client.ok(&["REPLICAOF", "127.0.0.1", &primary.port().to_string()]);
        eventually("the replication link is up", || {
            client.info("replication", "master_link_status").as_deref() == Some("up")
        });
        self.wait_until_caught_up(primary);
    }

    /// Makes a replica a primary again.
    ///
    /// # Panics
    /// If the server refuses.
    pub fn replica_of_nobody(&self) {
        self.client().ok(&["REPLICAOF", "NO", "ONE"]);
    }

    /// Waits until this replica has applied all that the primary had written
    /// when this was called.
    ///
    /// # Panics
    /// If it has not in time.
    pub fn wait_until_caught_up(&self, primary: &Server) {
        let target = primary.client().info_number("replication", "master_repl_offset");
        let mut client = self.client();
        eventually("the replica has caught up", || {
            client
                .info("replication", "slave_repl_offset")
                .and_then(|offset| offset.parse().ok())
                .unwrap_or(0)
                >= target
        });
    }
}
