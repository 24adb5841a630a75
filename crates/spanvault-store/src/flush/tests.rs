use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::*;
use crate::stamp::VaultId;

#[derive(Debug)]
struct Zeros;

impl spanvault_env::Random for Zeros {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

/// A file whose syncs wait until the test lets them end.
#[derive(Debug)]
struct SlowFile {
    begun: SyncSender<()>,
    end: Mutex<Receiver<std::io::Result<()>>>,
    syncs: AtomicU64,
}

impl DiskFile for SlowFile {
    fn read_at(&self, _: &mut [u8], _: u64) -> std::io::Result<usize> {
        Ok(0)
    }

    fn write_at(&self, _: &[u8], _: u64) -> std::io::Result<()> {
        Ok(())
    }

    fn len(&self) -> std::io::Result<u64> {
        Ok(0)
    }

    fn set_len(&self, _: u64) -> std::io::Result<()> {
        Ok(())
    }

    fn sync(&self) -> std::io::Result<()> {
        self.syncs.fetch_add(1, Ordering::Relaxed);
        self.begun.send(()).unwrap();
        self.end.lock().unwrap().recv().unwrap()
    }
}

struct Bench {
    file: Arc<SlowFile>,
    begun: Receiver<()>,
    end: SyncSender<std::io::Result<()>>,
    flush: Flush,
}

fn bench() -> Bench {
    let (begin, begun) = sync_channel(16);
    let (end, ended) = sync_channel(16);
    let file = Arc::new(SlowFile { begun: begin, end: Mutex::new(ended), syncs: AtomicU64::new(0) });
    let clock = Arc::new(spanvault_env::SimClock::new(1));
    let flush = Flush::new(file.clone(), 0, VaultId::random(&Zeros).check_key(), clock);
    Bench { file, begun, end, flush }
}

#[test]
fn one_sync_serves_everybody_who_waits() {
    let Bench { file, begun, end, flush } = &bench();
    flush.appended(1);
    std::thread::scope(|threads| {
        let leader = threads.spawn(|| flush.sync(1));
        begun.recv().unwrap();
        // The leader is at the disk: these come too late for its sync, and the first of them will lead.
        flush.appended(5);
        let waiting: Vec<_> = (2..=5).map(|through| threads.spawn(move || flush.sync(through))).collect();
        end.send(Ok(())).unwrap();
        assert!(leader.join().unwrap().is_ok());
        begun.recv().unwrap();
        end.send(Ok(())).unwrap();
        for waiter in waiting {
            assert!(waiter.join().unwrap().is_ok());
        }
    });
    assert_eq!((file.syncs.load(Ordering::Relaxed), flush.durable()), (2, 5));
}

#[test]
fn what_is_durable_already_needs_no_sync() {
    let Bench { file, end, flush, .. } = &bench();
    flush.appended(3);
    end.send(Ok(())).unwrap();
    flush.sync(2).unwrap();
    flush.sync(3).unwrap();
    flush.sync(u64::MAX).unwrap();
    assert_eq!(file.syncs.load(Ordering::Relaxed), 1);
}

#[test]
fn i8_a_failed_sync_fails_everybody_who_waits_for_good() {
    let Bench { file, begun, end, flush } = &bench();
    flush.appended(1);
    std::thread::scope(|threads| {
        let leader = threads.spawn(|| flush.sync(1));
        begun.recv().unwrap();
        flush.appended(2);
        let waiter = threads.spawn(|| flush.sync(2));
        end.send(Err(std::io::ErrorKind::Other.into())).unwrap();
        assert!(matches!(leader.join().unwrap(), Err(FlushError::Sync(_))));
        assert!(matches!(waiter.join().unwrap(), Err(FlushError::Poisoned)));
    });
    assert!(matches!(flush.sync(1), Err(FlushError::Poisoned)));
    assert_eq!((file.syncs.load(Ordering::Relaxed), flush.durable()), (1, 0));
}

#[test]
fn i8_a_sync_that_succeeds_after_the_store_was_poisoned_acknowledges_nothing() {
    let Bench { begun, end, flush, .. } = &bench();
    flush.appended(1);
    std::thread::scope(|threads| {
        let leader = threads.spawn(|| flush.sync(1));
        begun.recv().unwrap();
        flush.poison();
        end.send(Ok(())).unwrap();
        assert!(matches!(leader.join().unwrap(), Err(FlushError::Poisoned)));
    });
    assert_eq!(flush.durable(), 0);
}
