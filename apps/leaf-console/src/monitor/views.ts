/** Responses of the monitor API. Types only, so that no server code is bundled into the page. */
export type {
  HistoryView,
  LatencyView,
  LoadView,
  MonitorTag,
  OverviewView,
  PartStatus,
  PartView,
  PeerView,
  RemovedView,
  SegmentsView,
  SegmentView,
  ServerState,
  SnowflakeView,
  WorkerView,
} from '../../../leaf-server/src/monitor/views/views';
export type {
  ClusterAnswer,
  ClusterServer,
  ClusterWorker,
  ClusterWorkers,
  CommandAnswer,
  CommandResult,
} from '../../../leaf-server/src/cluster/views';
export type { CommandBody } from '../../../leaf-server/src/cluster/command-body';
export type { TagResponse as TagRow } from '../../../leaf-server/src/admin/tag-rows';
export type {
  AuditResponse as NumberAudit,
  NumberResponse as NumberRow,
} from '../../../leaf-server/src/ids/number-answers';
