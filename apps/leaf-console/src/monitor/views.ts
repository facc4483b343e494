/** What the server's monitor answers: types only, nothing of the server is built into the page. */
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
  SnowflakeView,
  TagView,
  WorkerView,
} from '../../../leaf-server/src/monitor/views/views';
