export { SnowflakeModule } from './snowflake.module';
export { DEFAULT_SNOWFLAKE_MODULE_OPTIONS, type SnowflakeModuleOptions } from './snowflake.module-definition';
export { SnowflakeService } from './snowflake.service';
