import {
  BitLayout,
  Clock,
  type IdRange,
  IdService,
  idsOf,
  LeafError,
  MAX_BATCH_SIZE,
  MAX_RANGE_SIZE,
  type PeriodNumber,
  type PeriodRanges,
  type RandomSource,
  type SnowflakeParts,
  SystemClock,
} from '@leaf-ids/core';
import { assertCount, onlyNumber, Semaphore, systemRandom } from '@leaf-ids/core/internal';
import {
  DEFAULT_CLIENT_OPTIONS,
  type LeafClientOptions,
  safeEvents,
  type ResolvedOptions,
  resolveOptions,
} from './client-options';
import { DirectRequests, DirectSnowflakes, PeriodRequests } from './direct-requests';
import { Requester } from './http/requester';
import { NumberRequests } from './number-requests';
import type { PrefetchView } from './prefetch/prefetch-buffer';
import { SnowflakeBuffer } from './prefetch/snowflake-buffer';
import { CallerLimit } from './prefetch/prefetch-context';
import type { Server, ServerView } from './servers/server';
import { ServerChoice } from './servers/server-choice';
import { openServers } from './servers/open-servers';
import type { SnowflakeSource } from './snowflake-source';
import { TagBuffers, type TagBufferView } from './tag-buffers';
import { newLease } from './window/lease-requests';
import { WindowSnowflakes, type WindowView } from './window/window-snowflakes';

export interface LeafClientSnapshot {
  readonly servers: readonly ServerView[];
  readonly tags: readonly TagBufferView[];
  readonly snowflake: PrefetchView;
  /** The worker ID of this client, with the mode `window` of snowflake IDs. */
  readonly window: WindowView | undefined;
  /** Calls that wait for IDs. */
  readonly waiting: number;
}

/** Number of prefetched IDs that were never issued; they become gaps. */
export interface DroppedIds {
  readonly tags: ReadonlyMap<string, number>;
  readonly snowflakes: number;
}

/**
 * Unique IDs from Leaf servers over HTTP, with prefetch: a call normally needs no network round trip, and calls succeed
 * during an outage while buffered IDs last.
 *
 * No ID is issued twice, whatever fails. The IDs of one tag ascend while one server serves the tag; the client stays
 * with a server until it fails. The IDs of a strict tag always ascend, and are never prefetched. Call `close()` when
 * the client is no longer needed.
 *
 * @example
 * const ids = new LeafClient({ servers: ['http://10.0.0.5:8080', 'http://10.0.0.6:8080'] });
 * const orderId = await ids.nextId('order');
 */
export class LeafClient extends IdService {
  /** Numbers of documents without gaps. */
  readonly numbers: NumberRequests;
  /** Ends the background work. */
  private readonly closing = new AbortController();
  /** Ends the requests. */
  private readonly disconnecting = new AbortController();
  private readonly servers: readonly Server[];
  private readonly tags: TagBuffers;
  private readonly source: SnowflakeSource;
  private readonly window: WindowSnowflakes | undefined;
  private readonly periods: PeriodRequests;
  /** Replaces the buffers if prefetch is disabled. */
  private readonly direct: DirectRequests | undefined;
  private readonly callerLimit: CallerLimit;
  private readonly layout: BitLayout;
  private readonly preload: ResolvedOptions['preload'];
  private closed: Promise<DroppedIds> | undefined;

  /** @throws LeafError `LEAF_CONFIG_INVALID` that lists all faults of the options */
  constructor(options: LeafClientOptions, clock: Clock = new SystemClock(), random: RandomSource = systemRandom) {
    super();
    const resolved = resolveOptions(options);
    const { timeoutMs, maxRequests, maxWaiting, prefetch, segment, snowflake, window } = resolved;
    const closing = this.closing.signal;
    const events = safeEvents(options.events ?? {});
    const layout = options.layout && new BitLayout(options.layout);
    this.layout = layout ?? new BitLayout(DEFAULT_CLIENT_OPTIONS.layout);
    this.preload = resolved.preload;
    this.callerLimit = new CallerLimit(maxWaiting);
    this.servers = openServers(resolved, clock, random, events);
    const choice = new ServerChoice(this.servers, options.zone, random);
    const semaphore = new Semaphore(maxRequests, clock);
    const requester = new Requester(this.servers, choice, semaphore, clock, random, this.disconnecting.signal);
    const context = { requester, clock, random, callerLimit: this.callerLimit, timeoutMs, closing, events };
    this.tags = new TagBuffers(context, segment);
    this.periods = new PeriodRequests(context);
    this.numbers = new NumberRequests(context, () => this.assertOpen());
    this.direct = prefetch ? undefined : new DirectRequests(context);
    const { stepLog } = options;
    const held = { ...context, newLease: () => newLease(clock), ...(stepLog && { stepLog }) };
    this.window = window && new WindowSnowflakes(held, window, layout);
    const fetched = this.direct ? new DirectSnowflakes(this.direct) : new SnowflakeBuffer(context, snowflake);
    this.source = this.window ?? fetched;
  }

  /**
   * Resolves when the IDs of the option `preload` are buffered.
   *
   * @throws LeafError as {@link nextId} and {@link snowflakes}; missing IDs are then fetched on first use
   */
  async ready(): Promise<void> {
    const { tags, snowflake } = this.preload;
    this.assertOpen();
    await Promise.all([...tags.map((tag) => this.tags.open(tag).fill()), ...(snowflake ? [this.source.fill()] : [])]);
  }

  /**
   * @throws LeafError the refusal of the servers; `LEAF_SERVERS_UNAVAILABLE`, `LEAF_OVERLOADED`; `LEAF_NOT_READY` after
   *   {@link close}
   */
  override async nextId(tag: string): Promise<bigint> {
    if (this.direct !== undefined) return ((await this.nextRanges(tag, 1))[0] as IdRange).from;
    return this.tryNext(tag) ?? this.buffer(tag).take();
  }

  override async nextIdString(tag: string): Promise<string> {
    return String(await this.nextId(tag));
  }

  override async nextIds(tag: string, count: number): Promise<bigint[]> {
    assertCount(count, MAX_BATCH_SIZE);
    return idsOf(await this.nextRanges(tag, count));
  }

  override async nextRanges(tag: string, count: number): Promise<IdRange[]> {
    assertCount(count, MAX_RANGE_SIZE);
    if (this.direct === undefined) return this.buffer(tag).takeRanges(count);
    this.assertOpen();
    return [...(await this.direct.ranges(tag, count))];
  }

  override async nextInPeriod(tag: string, at?: Date): Promise<PeriodNumber> {
    return onlyNumber(await this.nextRangesInPeriod(tag, 1, at));
  }

  /** Sends one request per call: periods are not prefetched, because the next period to be requested is unknown. */
  override async nextRangesInPeriod(tag: string, count: number, at?: Date): Promise<PeriodRanges> {
    assertCount(count, MAX_RANGE_SIZE);
    this.assertOpen();
    return this.periods.take(tag, count, at);
  }

  override tryNext(tag: string): bigint | undefined {
    return this.tags.get(tag)?.tryNext();
  }

  override tryNextNumber(tag: string): number | undefined {
    return this.tags.get(tag)?.tryNextNumber();
  }

  /**
   * Sends no request: if no ID is buffered or no worker ID is held, it throws, and starts a request for them. Await
   * {@link snowflakes} in this case.
   */
  override snowflake(): bigint {
    this.assertOpen();
    return this.source.nextBigint();
  }

  override snowflakeString(): string {
    this.assertOpen();
    return this.source.next();
  }

  override trySnowflakeString(): string | undefined {
    return this.source.tryNext();
  }

  override async snowflakes(count: number): Promise<bigint[]> {
    assertCount(count, MAX_BATCH_SIZE);
    this.assertOpen();
    return this.source.takeBigints(count);
  }

  override async snowflakeStrings(count: number): Promise<string[]> {
    assertCount(count, MAX_BATCH_SIZE);
    this.assertOpen();
    return this.source.take(count);
  }

  /** Uses the layout of the window if there is one, or else that of the options; sends no request. */
  override decode(id: bigint): SnowflakeParts {
    return (this.window?.layout ?? this.layout).decompose(id);
  }

  /** The state of the servers, the buffers and the worker ID, as plain data. */
  snapshot(): LeafClientSnapshot {
    return {
      servers: this.servers.map((server) => server.snapshot()),
      tags: this.tags.snapshot(),
      snowflake: this.source.snapshot(),
      window: this.window?.view(),
      waiting: this.callerLimit.waiting,
    };
  }

  /**
   * Rejects all calls, including waiting ones, releases the worker ID if there is one, closes the connections, and
   * resolves with the number of dropped IDs. Later calls join the first.
   */
  close(): Promise<DroppedIds> {
    this.closed ??= this.shut();
    return this.closed;
  }

  private async shut(): Promise<DroppedIds> {
    const reason = closedError();
    const dropped = { tags: this.tags.close(reason), snowflakes: this.source.close(reason) };
    this.closing.abort();
    if (this.window !== undefined) await this.window.release();
    this.disconnecting.abort();
    for (const { connection } of this.servers) connection.close();
    return dropped;
  }

  private buffer(tag: string): ReturnType<TagBuffers['open']> {
    this.assertOpen();
    return this.tags.open(tag);
  }

  private assertOpen(): void {
    if (this.closed !== undefined) throw closedError();
  }
}

function closedError(): LeafError {
  return new LeafError(
    'LEAF_NOT_READY',
    'This Leaf client is closed, for example because the application is stopping. Create a new LeafClient to get IDs.',
  );
}
