//! The bytes of a pack and of its index, both of version 2, as `gitformat-pack(5)` describes them.
//!
//! The library's own way takes the bytes of a pack apart again to make their index, which costs more than making them.

use gix::ObjectId;
use gix::objs::Kind;
use gix::odb::pack::data::{self, Version, entry::Header};
use gix::zlib::stream::deflate::{Compress, FlushCompress};
use gix::zlib::{Compression, Status};

use crate::error::{GitStep as _, Result};
use crate::threads::share_out;

/// How many objects are worth a thread.
const OBJECTS_A_THREAD: usize = 64;

/// The first bytes of an index of version 2, and the version.
const INDEX_HEADER: [u8; 8] = [0xFF, b't', b'O', b'c', 0, 0, 0, 2];

/// From this offset on the index needs a second table.
const FAR: u64 = 1 << 31;
const FAR_BIT: usize = 1 << 31;

/// A pack and its index.
pub(super) struct Encoded {
    /// The checksum of the pack, which names it.
    pub(super) checksum: ObjectId,
    pub(super) pack: Vec<u8>,
    pub(super) index: Vec<u8>,
}

/// Where in the pack an object is.
struct Place {
    id: ObjectId,
    crc32: u32,
    offset: u64,
}

/// The pack of `objects`, which are in the order of their ids, each there once.
pub(super) fn encode(
    hash: gix::hash::Kind,
    objects: &[(ObjectId, Kind, Vec<u8>)],
) -> Result<Encoded> {
    let count = u32::try_from(objects.len()).expect("fewer objects than fit in memory");
    let mut pack = data::header::encode(Version::V2, count).to_vec();
    let mut places = Vec::with_capacity(objects.len());
    let ids = objects.iter().map(|(id, ..)| *id);
    for (id, entry) in ids.zip(compress(objects)?) {
        places.push(Place {
            id,
            crc32: crc32fast::hash(&entry),
            offset: pack.len() as u64,
        });
        pack.extend_from_slice(&entry);
    }
    let checksum = checksum(hash, &pack)?;
    pack.extend_from_slice(checksum.as_slice());
    Ok(Encoded {
        index: index(hash, &places, &checksum)?,
        checksum,
        pack,
    })
}

/// The entries of `objects`, in their order, made on as many cores as they are worth.
fn compress(objects: &[(ObjectId, Kind, Vec<u8>)]) -> Result<Vec<Vec<u8>>> {
    let parts = share_out(
        objects,
        OBJECTS_A_THREAD,
        || (),
        |(), objects| compress_some(objects),
    )?;
    Ok(parts.into_iter().flatten().collect())
}

fn compress_some(objects: &[(ObjectId, Kind, Vec<u8>)]) -> Result<Vec<Vec<u8>>> {
    let step = "compress an object";
    let mut compressor = Compress::new(Compression::BEST_SPEED);
    let mut entries = Vec::with_capacity(objects.len());
    for (_, kind, content) in objects {
        let header = match kind {
            Kind::Blob => Header::Blob,
            Kind::Tree => Header::Tree,
            Kind::Commit => Header::Commit,
            Kind::Tag => Header::Tag,
        };
        let mut entry = Vec::with_capacity(content.len() / 2 + 64);
        let written = header.write_to(content.len() as u64, &mut entry);
        written.map_err(gix::Error::from_error).git(step)?;
        compressor.reset();
        append_compressed(&mut compressor, content, &mut entry).git(step)?;
        entries.push(entry);
    }
    Ok(entries)
}

/// Appends `content` to `entry` as a stream of its own.
fn append_compressed(
    compressor: &mut Compress,
    content: &[u8],
    entry: &mut Vec<u8>,
) -> std::result::Result<(), gix::Error> {
    let mut buffer = [0; 16 << 10];
    let mut taken = 0;
    loop {
        let (input, output) = (compressor.total_in(), compressor.total_out());
        let status = compressor.compress(&content[taken..], &mut buffer, FlushCompress::Finish)?;
        taken += usize::try_from(compressor.total_in() - input).expect("a part of a slice");
        let made = usize::try_from(compressor.total_out() - output).expect("a part of a buffer");
        entry.extend_from_slice(&buffer[..made]);
        if status == Status::StreamEnd {
            return Ok(());
        }
    }
}

/// The index of the pack whose checksum is `pack`.
fn index(hash: gix::hash::Kind, places: &[Place], pack: &ObjectId) -> Result<Vec<u8>> {
    let mut index = INDEX_HEADER.to_vec();
    // For each first byte of an id, how many ids have that or a smaller one.
    for first in 0..=u8::MAX {
        let upto = places.partition_point(|place| place.id.first_byte() <= first);
        push(&mut index, upto);
    }
    for place in places {
        index.extend_from_slice(place.id.as_slice());
    }
    for place in places {
        index.extend_from_slice(&place.crc32.to_be_bytes());
    }
    let mut far = Vec::new();
    for place in places {
        match u32::try_from(place.offset) {
            Ok(offset) if place.offset < FAR => index.extend_from_slice(&offset.to_be_bytes()),
            _ => {
                push(&mut index, far.len() | FAR_BIT);
                far.push(place.offset);
            }
        }
    }
    for offset in far {
        index.extend_from_slice(&offset.to_be_bytes());
    }
    index.extend_from_slice(pack.as_slice());
    let checksum = checksum(hash, &index)?;
    index.extend_from_slice(checksum.as_slice());
    Ok(index)
}

fn push(index: &mut Vec<u8>, number: usize) {
    let number = u32::try_from(number).expect("fewer objects than fit in memory");
    index.extend_from_slice(&number.to_be_bytes());
}

fn checksum(hash: gix::hash::Kind, bytes: &[u8]) -> Result<ObjectId> {
    let mut hasher = gix::hash::hasher(hash);
    hasher.update(bytes);
    hasher.try_finalize().git("sum up a pack")
}
