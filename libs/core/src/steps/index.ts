export { LoggedLayout } from './logged-layout';
export { LoggedSegmentStore } from './logged-segment-store';
export { LoggedWorkerFile } from './logged-worker-file';
export { LoggedWorkerStore } from './logged-worker-store';
export { leaseStep, stepFile, type StepLine, StepLog, stepLogRule } from './step-log';
