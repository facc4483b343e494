import type { DataSource } from 'typeorm';
import type { Instance } from '@leaf-ids/core';
import {
  assertOptions,
  both,
  type DeclaredTag,
  type Fault,
  firstAddress,
  flag,
  INSTANCE_RULES,
  list,
  newTagRule,
  object,
  refuseFaults,
  required,
  type Rule,
  rule,
  type Rules,
  tagRule,
  textOr,
  withDefaults,
} from '@leaf-ids/core/internal';
import {
  acceptRule,
  databaseUrlRule,
  dataSourceRule,
  type LeafLogger,
  type LoggerOption,
  loggerRule,
  type PersistenceModuleOptions,
  persistenceRule,
  signalRule,
} from '@leaf-ids/persistence';
import { type LeasedRegistryOptions, type RegistryOptions, registryRule } from '@leaf-ids/registry';
import { SEGMENT_MODULE_RULES, type SegmentModuleOptions } from '../segment/segment.service';
import {
  registryOptions,
  SNOWFLAKE_MODULE_RULES,
  type SnowflakeModuleOptions,
  togetherFaults,
} from '../snowflake/snowflake-options';

type Source = { readonly url: string } | OpenDataSource;

export interface EmbeddedSnowflakeOptions extends Omit<SnowflakeModuleOptions, 'registry' | 'instance'> {
  /**
   * `database`, the default: a pool of workers in `database`, on any engine. `mysql`: one row for each `ip:port` there.
   * Or the options of one of Leaf's registries, or of a custom store.
   */
  readonly registry?: 'database' | 'mysql' | RegistryOptions;
  /**
   * The identity of this process in the registry; by default the first address of this host, and port 0. Two processes
   * on one host must have different ports.
   */
  readonly instance?: Partial<Instance>;
}

export interface OpenDataSource {
  readonly dataSource: DataSource;
}

export interface CommonOptions<Database> extends LoggerOption {
  /**
   * The URL of a database, or a data source of the application; Leaf opens its own connections with the same options.
   */
  readonly database?: Database;
  /** Create and update the tables of Leaf at start; true by default. */
  readonly migrate?: boolean;
  /** Names of database settings that can lose a commit and that you accept: `['sync_binlog']`. */
  readonly accept?: readonly string[];
  /** Tags to create at start if they do not exist; a bare name starts at 1 with a step of 2000. */
  readonly tags?: readonly (string | DeclaredTag)[];
  /** Settings of segment mode, which is enabled if a database is given; false disables it. */
  readonly segment?: Partial<SegmentModuleOptions> | false;
  /** Settings of snowflake mode, which is disabled by default. */
  readonly snowflake?: EmbeddedSnowflakeOptions;
  /** Aborts a start under way: it rejects with the reason of the signal, and everything that was opened is closed. */
  readonly signal?: AbortSignal;
}

/** The options of a {@link Leaf}. */
export type LeafOptions = CommonOptions<string | OpenDataSource>;

const NAMED_REGISTRY = rule(
  '"database", "mysql" or an object such as { strategy: "zk_recycle", … }',
  (value) => value === 'database' || value === 'mysql',
);

const OPEN: Rules<OpenDataSource> = { dataSource: required(dataSourceRule) };

const SEGMENT: Rules<SegmentModuleOptions> = { ...SEGMENT_MODULE_RULES, database: persistenceRule };

const SNOWFLAKE: Rules<EmbeddedSnowflakeOptions> = {
  ...SNOWFLAKE_MODULE_RULES,
  registry: textOr(NAMED_REGISTRY, registryRule),
  instance: object(INSTANCE_RULES),
};

const OPTIONS: Rules<LeafOptions> = {
  database: textOr(
    databaseUrlRule,
    both(
      rule('a URL or { dataSource }', (value) => typeof value === 'object' && value !== null),
      object(OPEN),
    ),
  ),
  migrate: flag,
  accept: acceptRule,
  tags: list(textOr(tagRule, newTagRule)),
  segment: orFalse(object(SEGMENT)),
  snowflake: object(SNOWFLAKE),
  signal: signalRule,
  logger: loggerRule,
};

/** The rule of {@link LeafOptions}. */
export const leafRule: Rule = both(object(OPTIONS), (value) => {
  const options = value as LeafOptions;
  const faults = [...missing(options)];
  if (faults.length > 0 || options.snowflake === undefined) return faults;
  return togetherFaults(snowflakeOf(options, options.snowflake), 'snowflake');
});

function orFalse(each: Rule): Rule {
  return (value, path) => (value === false ? [] : each(value, path));
}

function missing({ database, segment, snowflake, tags = [] }: LeafOptions): Fault[] {
  if (segment === false && tags.length > 0) {
    return [{ path: 'tags', fault: 'needs segment mode, and the option segment is false' }];
  }
  const needsDatabase = segment === undefined ? tags.length > 0 : segment !== false && segment.database === undefined;
  const isNamed = snowflake !== undefined && typeof (snowflake.registry ?? '') === 'string';
  if (database !== undefined || !(needsDatabase || isNamed)) return [];
  const fault = 'is required by segment mode, and by the worker registries "database" and "mysql"';
  return [{ path: 'database', fault }];
}

/** Checked options, in the form of those that enable one mode each. A mode that is undefined is disabled. */
export class RuntimeOptions implements LoggerOption {
  readonly logger?: LeafLogger;
  readonly segment: SegmentModuleOptions | undefined;
  readonly snowflake: SnowflakeModuleOptions | undefined;
  readonly registry: LeasedRegistryOptions | undefined;
  readonly tags: NonNullable<LeafOptions['tags']>;
  readonly signal: AbortSignal | undefined;

  /** @param checked options without faults */
  constructor(checked: LeafOptions) {
    const { database, segment, snowflake, tags = [], signal, logger } = checked;
    if (logger !== undefined) this.logger = logger;
    const hasSegment = database !== undefined || segment !== undefined || tags.length > 0;
    this.segment =
      segment !== false && hasSegment
        ? withDefaults({ database: sourceOf(checked), ...loggerIn(checked) }, segment ?? {})
        : undefined;
    this.snowflake = snowflake && snowflakeOf(checked, snowflake);
    this.registry = this.snowflake && registryOptions(this.snowflake);
    this.tags = tags;
    this.signal = signal;
  }

  /**
   * Checks the options of `subject`, a class or a module.
   *
   * @throws LeafError `LEAF_CONFIG_INVALID` that lists all faults, or for options that enable no mode
   */
  static of(subject: string, options: LeafOptions): RuntimeOptions {
    assertOptions(subject, leafRule, options);
    const checked = new RuntimeOptions(options);
    const isAny = checked.segment !== undefined || checked.snowflake !== undefined;
    const database =
      options.database === undefined ? ' database is undefined: is an environment variable not set?' : '';
    const fault = `enable neither segment mode nor snowflake mode.${database} Set database to a URL such as mysql://user:password@host:3306/database for segment IDs, snowflake for snowflake IDs, or both`;
    refuseFaults(subject, isAny ? [] : [{ path: '', fault }]);
    return checked;
  }

  /** The options of the segment database; undefined when segment mode is disabled. */
  get persistence(): PersistenceModuleOptions | undefined {
    if (this.segment === undefined) return undefined;
    const { database, maxStep } = this.segment;
    const signal = this.signal && { signal: this.signal };
    return { ...database, ...(maxStep !== undefined && { maxStep }), ...signal, ...loggerIn(this.segment) };
  }
}

function snowflakeOf(options: LeafOptions, snowflake: EmbeddedSnowflakeOptions): SnowflakeModuleOptions {
  const { registry = 'database', instance = {} } = snowflake;
  const opened = sourceOf(options);
  const named = { database: { strategy: 'database', ...opened }, mysql: { strategy: 'mysql', ...opened } } as const;
  return {
    ...loggerIn(options),
    ...snowflake,
    registry: typeof registry === 'string' ? named[registry] : registry,
    instance: withDefaults({ ip: firstAddress(), port: 0 }, instance),
  };
}

function loggerIn({ logger }: LoggerOption): LoggerOption {
  return logger === undefined ? {} : { logger };
}

function sourceOf({ database = '', migrate = true, accept = [] }: LeafOptions): Source & {
  migrate: boolean;
  accept: readonly string[];
} {
  return { migrate, accept, ...(typeof database === 'string' ? { url: database } : database) };
}
