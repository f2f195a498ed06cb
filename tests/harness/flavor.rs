//! Which server this is: product and version, asked of the binary once.

use std::fmt;
use std::process::Command;
use std::sync::OnceLock;

use crate::places;

/// The maker's name on a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    /// Redis.
    Redis,
    /// Valkey.
    Valkey,
}

/// A server's product and version. Versions compare as triples:
/// `flavor.version >= (7, 0, 0)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flavor {
    /// Redis or Valkey.
    pub product: Product,
    /// Major, minor, patch.
    pub version: (u32, u32, u32),
}

impl Flavor {
    /// The server under test, found by `--version`.
    ///
    /// # Panics
    /// If the binary does not run or says something unheard of.
    pub fn current() -> Flavor {
        static CURRENT: OnceLock<Flavor> = OnceLock::new();
        *CURRENT.get_or_init(|| {
            let binary = places::server_binary();
            let output = Command::new(&binary)
                .arg("--version")
                .output()
                .unwrap_or_else(|error| panic!("{} does not run: {error}", binary.display()));
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            Flavor::parse(&text).unwrap_or_else(|| panic!("{} has no version in: {text}", binary.display()))
        })
    }

    /// Reads `Redis server v=7.0.15 sha=...` or `Valkey server v=9.1.2 ...`.
    pub fn parse(text: &str) -> Option<Flavor> {
        let product = match text.split_whitespace().next()? {
            "Redis" => Product::Redis,
            "Valkey" => Product::Valkey,
            _ => return None,
        };
        let version = text.split_whitespace().find_map(|word| word.strip_prefix("v="))?;
        let mut numbers = version.split('.').map(|number| number.parse().ok());
        let version = (numbers.next()??, numbers.next()??, numbers.next()??);
        Some(Flavor { product, version })
    }

    /// True on Redis.
    pub fn is_redis(&self) -> bool {
        self.product == Product::Redis
    }

    /// True on Valkey.
    pub fn is_valkey(&self) -> bool {
        self.product == Product::Valkey
    }

    /// True before Redis 7.0: no COMMAND DOCS, no key specs, no module configs,
    /// DEBUG and MODULE LOAD always allowed.
    pub fn is_before_7(&self) -> bool {
        self.is_redis() && self.version < (7, 0, 0)
    }

    /// True where module commands can carry ACL categories (Redis 7.4, every Valkey of ours).
    pub fn has_module_acl_categories(&self) -> bool {
        self.is_valkey() || self.version >= (7, 4, 0)
    }
}

impl fmt::Display for Flavor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor, patch) = self.version;
        write!(f, "{:?} {major}.{minor}.{patch}", self.product)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_products_introduce_themselves() {
        let redis =
            Flavor::parse("Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64").unwrap();
        assert_eq!((redis.product, redis.version), (Product::Redis, (7, 0, 15)));
        let valkey = Flavor::parse("Valkey server v=9.1.2 sha=00000000:1 malloc=libc bits=64").unwrap();
        assert_eq!((valkey.product, valkey.version), (Product::Valkey, (9, 1, 2)));
        assert_eq!(Flavor::parse("KeyDB server v=6.3.4"), None);
    }
}
