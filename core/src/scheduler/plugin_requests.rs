//! Requests of plugins through their [`Handle`](crate::handle::Handle).

use super::Scheduler;
use super::tasks::Tasks;
use crate::engine::bundle::Bundle;
use crate::plugin_api::client::{ApiError, Client, Event, EventType, ObjectRef};
use crate::plugin_api::handle::{Command, PermitRejection, WriteRequest};

impl<B: Bundle, C: Client> Scheduler<B, C> {
    /// Runs requests of plugins, and handles pods whose wait in Permit ended.
    pub(super) fn settle(&mut self, tasks: &mut impl Tasks) {
        loop {
            if let Some((commands, task_requests)) = self.handle.requests().take(self.background.is_running()) {
                for command in commands {
                    self.run_command(command, tasks);
                }
                for request in task_requests {
                    self.run_task_request(request, tasks);
                }
            }
            self.await_requests(tasks);
            let Some(uid) = self.waiting.take_settled() else { return };
            self.proceed(&uid, tasks);
        }
    }

    fn run_command(&mut self, command: Command, tasks: &mut impl Tasks) {
        match command {
            Command::Allow { pod, plugin } => self.waiting.allow(&pod, plugin),
            Command::Reject { pod, plugin, reason } => {
                self.waiting.reject(&pod, PermitRejection { plugin, reason, preempted: false });
            }
            Command::Activate(uid) => {
                self.activate(&uid);
            }
            Command::ActivateAt(uid, time) => {
                self.timed_activations.set(uid, time);
            }
            Command::Event { pod, reason, note } => {
                if let Some(pod) = self.known(&pod).cloned() {
                    self.record(pod, EventType::Normal, reason, Event::note(&note));
                }
            }
            Command::Write(request) => self.objects.write(request, &self.client, tasks),
        }
    }

    /// Handles a completed write of a plugin, successful or not.
    pub(super) fn on_object_written(
        &mut self,
        request: &WriteRequest,
        result: Result<(), ApiError>,
        tasks: &mut impl Tasks,
    ) {
        self.objects.completed(&request.object, &self.client, tasks);
        let Err(error) = result else { return };
        if let Some(pod) = self.known(&request.pod).cloned() {
            let ObjectRef { kind, name, .. } = &request.object;
            let note = format!("{} cannot write {kind} {name}: {error}", request.plugin);
            self.record(pod, EventType::Warning, "FailedWrite", Event::note(&note));
        }
    }

    /// Activates the pods whose time has come.
    pub(super) fn activate_due_pods(&mut self, now: i64) {
        while let Some(uid) = self.timed_activations.take(now) {
            self.activate(&uid);
        }
    }
}
