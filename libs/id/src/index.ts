export { EmbeddedIdService } from './embedded-id-service';
export { IdModule, type IdModuleOptions } from './id.module';
