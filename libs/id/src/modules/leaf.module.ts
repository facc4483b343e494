import {
  type DynamicModule,
  type FactoryProvider,
  Inject,
  Injectable,
  type InjectionToken,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleInit,
  Optional,
  type Provider,
  type LoggerService,
} from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { SchedulerRegistry } from '@nestjs/schedule';
import { IdService, LeafError, Numbers, SystemClock, type Clock } from '@leaf-ids/core';
import { loggerOf, Persistence, PersistenceModule } from '@leaf-ids/persistence';
import { SegmentService } from '../segment/segment.service';
import { SnowflakeService } from '../snowflake/snowflake.service';
import { EmbeddedIdService } from '../runtime/embedded-id-service';
import { Leaf } from '../runtime/leaf';
import { RuntimeOptions } from '../options/leaf-options';
import { LeafHealthIndicator } from './leaf-health-indicator';

/**
 * Starts and stops a runtime with its application, and registers its jobs with the scheduler of the application, if
 * any.
 */
@Injectable()
class LeafLifecycle implements OnModuleInit, OnApplicationBootstrap, OnApplicationShutdown {
  private readonly stopping = new AbortController();

  constructor(
    private readonly leaf: Leaf,
    @Inject(Persistence) persistence: Persistence | undefined,
    private readonly options: RuntimeOptions,
    @Optional() private readonly scheduler?: SchedulerRegistry,
  ) {
    persistence?.closeAfter(() => leaf.stop());
  }

  async onModuleInit(): Promise<void> {
    await this.leaf.init();
    for (const { name, timer } of this.leaf.jobs) this.register(name, timer);
  }

  /** A second Leaf of the application has jobs of the same names. */
  private register(name: string, timer: NodeJS.Timeout | undefined): void {
    let key = name;
    for (let count = 2; this.scheduler?.doesExist('interval', key); count++) key = `${name}-${count}`;
    this.scheduler?.addInterval(key, timer);
  }

  onApplicationBootstrap(): void {
    const { segments, snowflake } = this.leaf;
    if (segments === undefined && snowflake === undefined) return;
    void warnWithoutShutdownHooks(new SystemClock(), loggerOf(this.options, 'Leaf'), this.stopping.signal);
  }

  onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    return this.leaf.stop();
  }
}

/** Provides the options to the modules below. */
@Module({})
class LeafSettingsModule {}

/**
 * `IdService` of the settings module, which does not export it. A test that overrides the provider `IdService` replaces
 * this value too; then the options are empty, and nothing is opened.
 */
const NOT_OVERRIDDEN = Symbol('IdService is not overridden');

/** Never global: Nest shuts it down before the modules that it imports, including the database. */
@Module({})
class LeafRuntimeModule {}

function part(provide: InjectionToken, pick: (leaf: Leaf) => unknown): Provider {
  return { provide, useFactory: pick, inject: [Leaf] };
}

/**
 * Of several global modules with an `IdService`, Nest would silently inject that of the last one.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
function assertOneGlobal(modules: ModulesContainer): void {
  const names = [...modules.values()]
    .filter((each) => each.isGlobal && each.exports.has(LeafRuntimeModule))
    .map(({ metatype }) => metatype.name);
  if (names.length < 2) return;
  throw new LeafError(
    'LEAF_CONFIG_INVALID',
    `This application has ${names.length} global modules with an IdService (${names.join(', ')}), of which only the last would be used. Keep isGlobal for one of them, and import each of the others in the modules that use it.`,
  );
}

/**
 * A module with one {@link Leaf}, its stores, and the injectable services; the service of a disabled mode is undefined.
 *
 * @param base result of a `ConfigurableModuleBuilder`; it provides the options as `token`
 * @param databases the names of several databases, for their data sources
 */
export function leafModule(
  { module, global = false, imports = [], providers = [] }: DynamicModule,
  token: InjectionToken,
  toOptions: FactoryProvider<RuntimeOptions>['useFactory'],
  databases: readonly string[] = [],
): DynamicModule {
  const options = {
    provide: RuntimeOptions,
    useFactory: (given: unknown, ids: unknown, modules: ModulesContainer) => {
      assertOneGlobal(modules);
      return ids === NOT_OVERRIDDEN ? toOptions(given) : new RuntimeOptions({});
    },
    inject: [token, IdService, ModulesContainer],
  };
  const settings = {
    module: LeafSettingsModule,
    imports,
    providers: [...providers, options, { provide: IdService, useValue: NOT_OVERRIDDEN }],
    exports: [RuntimeOptions],
  };
  const opening = {
    imports: [settings],
    inject: [RuntimeOptions],
    useFactory: ({ persistence: options }: RuntimeOptions) => options,
  };
  const persistence = PersistenceModule.forRootAsync(opening, databases);
  const runtime = {
    module: LeafRuntimeModule,
    imports: [settings, persistence],
    providers: [
      {
        provide: Leaf,
        useFactory: (checked: RuntimeOptions, stores?: Persistence) => new Leaf(checked, stores),
        inject: [RuntimeOptions, Persistence],
      },
      part(SegmentService, ({ segments }) => segments),
      part(Numbers, ({ numbers }) => numbers),
      part(SnowflakeService, ({ snowflake }) => snowflake),
      part(EmbeddedIdService, ({ ids }) => ids),
      { provide: IdService, useExisting: EmbeddedIdService },
      LeafHealthIndicator,
      LeafLifecycle,
    ],
    exports: [
      Leaf,
      SegmentService,
      Numbers,
      SnowflakeService,
      EmbeddedIdService,
      IdService,
      LeafHealthIndicator,
      persistence,
    ],
  };
  // The order of imports decides which IdService `app.get()` finds: the last one, that of the runtime.
  return { module, global, imports: [settings, runtime], exports: [runtime] };
}

/** Time in which the application can call `enableShutdownHooks()` before the warning, in milliseconds. */
const GRACE_MS = 5000;

/** Warns if a SIGTERM would end this process without the shutdown hooks of Nest, a while after the start. */
export async function warnWithoutShutdownHooks(
  clock: Clock,
  logger: Pick<LoggerService, 'warn'>,
  stopping: AbortSignal,
): Promise<void> {
  await clock.sleep(GRACE_MS, stopping);
  if (stopping.aborted || process.listenerCount('SIGTERM') > 0) return;
  logger.warn(
    'Nothing in this process handles SIGTERM, so a stop counts as a crash: unused IDs become a gap, and a worker ID stays reserved for up to an hour. Call app.enableShutdownHooks().',
  );
}
