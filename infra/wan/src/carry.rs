//! Two threads for each direction: one takes packets in, one lets them out when they are due.
use crate::clock::{now, sleep_until};
use crate::direction::{Counts, Direction};
use crate::settings::Change;
use crate::values::Way;
use anyhow::Context;
use parking_lot::{Condvar, Mutex};
use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::thread::Builder;
use tokio::sync::mpsc::UnboundedSender;

/// Above the devices' MTU.
const LARGEST: usize = 2048;

/// A direction that threads share.
pub struct Lane {
    direction: Mutex<Direction>,
    came_in: Condvar,
}

/// Starts to carry packets, until the process ends. If a device was deleted, sends the error to `failed`.
pub fn start(
    lane: &Arc<Lane>,
    from: &Arc<File>,
    to: &Arc<File>,
    failed: &UnboundedSender<anyhow::Error>,
) -> anyhow::Result<()> {
    let (inward, from, failed) = (lane.clone(), from.clone(), failed.clone());
    let (outward, to) = (lane.clone(), to.clone());
    Builder::new().name("in".into()).spawn(move || {
        let Err(why) = inward.take_in(&from);
        // Without a receiver the process is ending anyway.
        let _closed = failed.send(anyhow::Error::new(why).context("a device was deleted"));
    })?;
    Builder::new().name("out".into()).spawn(move || outward.let_out(&to)).map(drop).context("a thread")
}

impl Lane {
    pub fn new(direction: Direction) -> Self {
        Self { direction: Mutex::new(direction), came_in: Condvar::new() }
    }

    pub fn change(&self, change: Change, way: Way) {
        self.direction.lock().settings.apply(change, way);
    }

    pub fn counts(&self) -> Counts {
        self.direction.lock().counts
    }

    fn take_in(&self, mut from: &File) -> io::Result<Infallible> {
        let mut packet = [0; LARGEST];
        loop {
            let size = from.read(&mut packet)?;
            self.direction.lock().offer(now(), &packet[..size]);
            self.came_in.notify_one();
        }
    }

    fn let_out(&self, mut to: &File) {
        loop {
            let mut direction = self.direction.lock();
            let Some(due) = direction.due() else {
                self.came_in.wait(&mut direction);
                continue;
            };
            drop(direction);
            sleep_until(due);
            let Some(packet) = self.direction.lock().pop() else { continue };
            // A device that is down takes none.
            let written = to.write_all(&packet);
            self.direction.lock().count(&packet, written.is_ok());
        }
    }
}
