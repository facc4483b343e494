export { SegmentModule } from './segment.module';
export { DEFAULT_SEGMENT_MODULE_OPTIONS, type SegmentModuleOptions } from './segment.module-definition';
export { SegmentService } from './segment.service';
