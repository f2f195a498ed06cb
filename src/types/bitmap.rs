//! `rb-bitmap`: a key that holds an adaptive bitmap.
//!
//! In an RDB the value is a sequence of NATIVE pieces, each a string; the last one
//! says that it is the last (`docs/design/format.md`). In an append-only file it
//! is one RB.IMPORT a piece.

use roarbits_core::bitmap::Sample;
use roarbits_core::codec::native::{pieces, Assembler};
use roarbits_core::{BitRead, Bitmap};

use crate::drops;
use crate::ffi::{block_bytes, AofWriter, DataType, Defrag, Digest, LoadError, Loader, Saver, TypeHandle};

/// The size of a piece: small beside a command's limit of 512 MB and beside what a
/// client's buffer may hold, large beside the cost of a command.
pub const PIECE_BYTES: usize = 512 * 1024;

static HANDLE: TypeHandle = TypeHandle::unset();

/// The data type `rb-bitmap`.
pub struct BitmapType;

impl DataType for BitmapType {
    type Value = Bitmap;

    const NAME: &'static str = "rb-bitmap";
    const ENCVER: i32 = 1;

    fn handle() -> &'static TypeHandle {
        &HANDLE
    }

    fn load(from: &mut Loader, encver: i32) -> Result<Bitmap, LoadError> {
        match encver {
            1 => load_pieces(from),
            newer => Err(LoadError::Invalid(format!("encoding version {newer} is of a later release"))),
        }
    }

    fn save(to: &mut Saver, bitmap: &Bitmap) {
        for piece in pieces(bitmap, PIECE_BYTES) {
            to.bytes(&piece);
        }
    }

    fn aof_rewrite(to: &mut AofWriter, bitmap: &Bitmap) {
        for piece in pieces(bitmap, PIECE_BYTES) {
            to.import_native(&piece);
        }
    }

    fn mem_usage(bitmap: &Bitmap, samples: usize) -> usize {
        let sample = if samples == 0 { Sample::All } else { Sample::Some };
        usize::try_from(bitmap.memory_bytes(sample, &block_bytes)).unwrap_or(usize::MAX)
    }

    /// The logical length, then every maximal run: two histories of one set agree.
    fn digest(to: &mut Digest, bitmap: &Bitmap) {
        to.element(&[bitmap.length_bytes()]);
        for run in bitmap.runs_in(0..=u64::MAX) {
            to.element(&[run.start, run.end]);
        }
    }

    fn copy(bitmap: &Bitmap) -> Bitmap {
        bitmap.clone()
    }

    fn free(bitmap: Bitmap) {
        drops::release(bitmap);
    }

    fn free_effort(bitmap: &Bitmap) -> usize {
        // 0 would tell the server that it cannot know.
        usize::try_from(bitmap.free_effort()).unwrap_or(usize::MAX).max(1)
    }

    fn defrag(bitmap: &mut Bitmap, from: u64, to: &Defrag) -> Option<u64> {
        bitmap.relocate(from, &mut |words| to.words(words), &mut || to.should_stop())
    }
}

fn load_pieces(from: &mut Loader) -> Result<Bitmap, LoadError> {
    let mut assembler = Assembler::new();
    loop {
        let pushed = from.with_bytes(|piece| assembler.push(piece))?;
        if pushed.map_err(|error| LoadError::Invalid(error.to_string()))? {
            break;
        }
    }
    let bitmap = assembler.finish();
    validate_or_abort(&bitmap);
    Ok(bitmap)
}

/// In debug builds, ends the server if a value that a decoder accepted breaks an
/// invariant: hostile-input tests run on such a build.
pub fn validate_or_abort(bitmap: &Bitmap) {
    if cfg!(debug_assertions) {
        if let Err(broken) = bitmap.validate() {
            eprintln!("roarbits: a decoded bitmap is not valid: {broken}");
            std::process::abort();
        }
    }
}
