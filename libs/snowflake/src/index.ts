export {
  DEFAULT_SNOWFLAKE_MODULE_OPTIONS,
  SNOWFLAKE_MODULE_RULES,
  type SnowflakeModuleOptions,
} from './snowflake-options';
export { SnowflakeService, type SnowflakeServiceSnapshot } from './snowflake.service';
