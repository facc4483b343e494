export { DEFAULT_SEGMENT_MODULE_OPTIONS, SEGMENT_MODULE_RULES, type SegmentModuleOptions } from './segment-options';
export { SEGMENT_STOP_LIMIT_MS, SegmentService } from './segment.service';
