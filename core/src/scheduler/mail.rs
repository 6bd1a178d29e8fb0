//! What plugins ask of the scheduler through their [`Handle`](crate::handle::Handle).

use super::Scheduler;
use super::tasks::Tasks;
use crate::client::{ApiError, Client, Event, EventType, ObjectRef};
use crate::handle::{Command, Errand, Rejection};
use crate::profile::Bundle;

impl<B: Bundle, C: Client> Scheduler<B, C> {
    /// Does what plugins asked for, and takes note of pods that stopped waiting in Permit.
    pub(super) fn settle(&mut self, tasks: &mut impl Tasks) {
        loop {
            if let Some((commands, orders)) = self.handle.mailbox().take(self.background.is_running()) {
                for command in commands {
                    self.obey(command, tasks);
                }
                for order in orders {
                    self.obey_order(order, tasks);
                }
            }
            self.await_mail(tasks);
            let Some(uid) = self.waiting.take_settled() else { return };
            self.proceed(&uid, tasks);
        }
    }

    fn obey(&mut self, command: Command, tasks: &mut impl Tasks) {
        match command {
            Command::Allow { pod, plugin } => self.waiting.allow(&pod, plugin),
            Command::Reject { pod, plugin, reason } => {
                self.waiting.reject(&pod, Rejection { plugin, reason, preempted: false });
            }
            Command::Activate(uid) => {
                self.activate(&uid);
            }
            Command::ActivateAt(uid, time) => {
                self.alarms.set(uid, time);
            }
            Command::Event { pod, reason, note } => {
                if let Some(pod) = self.known(&pod).cloned() {
                    self.record(pod, EventType::Normal, reason, Event::note(&note));
                }
            }
            Command::Write(errand) => self.objects.write(errand, &self.client, tasks),
        }
    }

    /// An errand was run, or could not be.
    pub(super) fn written(&mut self, errand: &Errand, result: Result<(), ApiError>, tasks: &mut impl Tasks) {
        self.objects.completed(&errand.object, &self.client, tasks);
        let Err(error) = result else { return };
        if let Some(pod) = self.known(&errand.pod).cloned() {
            let ObjectRef { kind, name, .. } = &errand.object;
            let note = format!("{} cannot write {kind} {name}: {error}", errand.plugin);
            self.record(pod, EventType::Warning, "FailedWrite", Event::note(&note));
        }
    }

    /// Activates the pods whose time has come.
    pub(super) fn ring(&mut self, now: i64) {
        while let Some(uid) = self.alarms.take(now) {
            self.activate(&uid);
        }
    }
}
