export { DEFAULT_SNOWFLAKE_MODULE_OPTIONS, type SnowflakeModuleOptions } from './snowflake-options';
export { SnowflakeService, type SnowflakeServiceSnapshot } from './snowflake.service';
