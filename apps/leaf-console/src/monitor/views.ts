/** Responses of the monitor API. Types only, so that no server code is bundled into the page. */
export type {
  HistoryView,
  LatencyView,
  LoadView,
  OverviewView,
  PartStatus,
  PartView,
  PeerView,
  RemovedView,
  SegmentsView,
  SegmentView,
  ServerState,
  SnowflakeView,
  TagView,
  WorkerView,
} from '../../../leaf-server/src/monitor/views/views';
export type {
  ClusterAnswer,
  ClusterServer,
  ClusterWorker,
  ClusterWorkers,
  OrderAnswer,
  OrderResult,
} from '../../../leaf-server/src/cluster/views';
export type { OrderBody } from '../../../leaf-server/src/cluster/order-body';
