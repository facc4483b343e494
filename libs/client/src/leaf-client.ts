import { setMaxListeners } from 'node:events';
import {
  assertCount,
  BitLayout,
  Clock,
  type IdRange,
  IdService,
  LeafError,
  MAX_BATCH_SIZE,
  MAX_RANGE_SIZE,
  onlyNumber,
  type PeriodNumber,
  type PeriodRanges,
  type RandomSource,
  type SnowflakeParts,
  SystemClock,
  systemRandom,
} from '@leaf-ids/core';
import { safeEvents } from './client-events';
import { DEFAULT_CLIENT_OPTIONS, type LeafClientOptions } from './client-options';
import { Semaphore } from './http/semaphore';
import { Requester } from './http/requester';
import type { PrefetchView } from './prefetch/prefetch-buffer';
import { SnowflakeBuffer } from './prefetch/snowflake-buffer';
import { CallerLimit } from './prefetch/caller-limit';
import { resolveOptions, type ResolvedOptions } from './resolve-options';
import type { Server, ServerView } from './servers/server';
import { PeriodRequests } from './period-requests';
import { ServerChoice } from './servers/server-choice';
import { openServers } from './servers/open-servers';
import { TagBuffers, type TagBufferView } from './tag-buffers';

export interface LeafClientSnapshot {
  readonly servers: readonly ServerView[];
  readonly tags: readonly TagBufferView[];
  readonly snowflake: PrefetchView;
  /** Calls that wait for IDs. */
  readonly waiting: number;
}

/** IDs that were fetched and never issued: gaps. */
export interface DroppedIds {
  readonly tags: ReadonlyMap<string, number>;
  readonly snowflakes: number;
}

/**
 * Unique IDs from Leaf servers over HTTP, fetched ahead: a call normally costs no network, and goes on during an outage
 * for as long as what is at hand lasts.
 *
 * No ID is issued twice, whatever fails. The IDs of one tag ascend as long as one server serves the tag; it stays with
 * one until that fails. Those of a strict tag always ascend, and are never fetched ahead. Close it when it is no longer needed.
 *
 * @example
 * const ids = new LeafClient({ servers: ['http://10.0.0.5:8080', 'http://10.0.0.6:8080'] });
 * const orderId = await ids.nextId('order');
 */
export class LeafClient extends IdService {
  private readonly closing = new AbortController();
  private readonly servers: readonly Server[];
  private readonly tags: TagBuffers;
  private readonly snowflakeBuffer: SnowflakeBuffer;
  private readonly periods: PeriodRequests;
  private readonly room: CallerLimit;
  private readonly layout: BitLayout;
  private readonly preload: ResolvedOptions['preload'];
  private closed: Promise<DroppedIds> | undefined;

  /** @throws LeafError `LEAF_CONFIG_INVALID`, `LEAF_LAYOUT_INVALID` */
  constructor(options: LeafClientOptions, clock: Clock = new SystemClock(), random: RandomSource = systemRandom) {
    super();
    const resolved = resolveOptions(options);
    const { timeoutMs, maxRequests, maxWaiting, segment, snowflake } = resolved;
    const closing = this.closing.signal;
    // Every request and every wait listens to it: that many are no leak.
    setMaxListeners(0, closing);
    const events = safeEvents(options.events ?? {});
    this.layout = new BitLayout(options.layout ?? DEFAULT_CLIENT_OPTIONS.layout);
    this.preload = resolved.preload;
    this.room = new CallerLimit(maxWaiting);
    this.servers = openServers(resolved, clock, random, events);
    const choice = new ServerChoice(this.servers, options.zone, random);
    const requester = new Requester(this.servers, choice, new Semaphore(maxRequests), clock, random, closing);
    const context = { requester, clock, random, room: this.room, timeoutMs, closing, events };
    this.tags = new TagBuffers(context, segment);
    this.periods = new PeriodRequests(context);
    this.snowflakeBuffer = new SnowflakeBuffer(context, snowflake);
  }

  /**
   * Resolves when what `preload` names is at hand.
   *
   * @throws LeafError as {@link nextId} and {@link snowflakes}; what is missing is still fetched when it is asked for
   */
  async ready(): Promise<void> {
    const { tags, snowflake } = this.preload;
    this.assertOpen();
    await Promise.all([
      ...tags.map((tag) => this.tags.open(tag).fill()),
      ...(snowflake ? [this.snowflakeBuffer.fill()] : []),
    ]);
  }

  /** @throws LeafError what the servers refuse; `LEAF_SERVERS_UNAVAILABLE`, `LEAF_OVERLOADED`, `LEAF_NOT_READY` once closed */
  override async nextId(tag: string): Promise<bigint> {
    return this.tryNext(tag) ?? this.buffer(tag).take();
  }

  override async nextIdString(tag: string): Promise<string> {
    return String(await this.nextId(tag));
  }

  override async nextIds(tag: string, count: number): Promise<bigint[]> {
    assertCount(count, MAX_BATCH_SIZE);
    const ids: bigint[] = [];
    for (const { from, to } of await this.buffer(tag).takeRanges(count)) {
      for (let id = from; id <= to; id++) ids.push(id);
    }
    return ids;
  }

  override async nextRanges(tag: string, count: number): Promise<IdRange[]> {
    assertCount(count, MAX_RANGE_SIZE);
    return this.buffer(tag).takeRanges(count);
  }

  override async nextInPeriod(tag: string, at?: Date): Promise<PeriodNumber> {
    return onlyNumber(await this.nextRangesInPeriod(tag, 1, at));
  }

  /** One request each: nothing is fetched ahead, for nobody knows which period is asked for next. */
  override async nextRangesInPeriod(tag: string, count: number, at?: Date): Promise<PeriodRanges> {
    assertCount(count, MAX_RANGE_SIZE);
    this.assertOpen();
    return this.periods.take(tag, count, at);
  }

  override tryNext(tag: string): bigint | undefined {
    return this.tags.get(tag)?.tryNext();
  }

  /** Never waits: when none is at hand, it throws and one is fetched. Await {@link snowflakes} then. */
  override snowflake(): bigint {
    return BigInt(this.snowflakeString());
  }

  override snowflakeString(): string {
    this.assertOpen();
    return this.snowflakeBuffer.next();
  }

  override trySnowflakeString(): string | undefined {
    return this.snowflakeBuffer.tryNext();
  }

  override async snowflakes(count: number): Promise<bigint[]> {
    return (await this.snowflakeStrings(count)).map(BigInt);
  }

  override async snowflakeStrings(count: number): Promise<string[]> {
    assertCount(count, MAX_BATCH_SIZE);
    return this.snowflakeBuffer.take(count);
  }

  /** By the layout of the options; no server is asked. */
  override decode(id: bigint): SnowflakeParts {
    return this.layout.decompose(id);
  }

  snapshot(): LeafClientSnapshot {
    return {
      servers: this.servers.map((server) => server.snapshot()),
      tags: this.tags.snapshot(),
      snowflake: this.snowflakeBuffer.snapshot(),
      waiting: this.room.waiting,
    };
  }

  /** Refuses all calls, waiting ones included, ends the connections, and says what is dropped. Later calls join the first. */
  close(): Promise<DroppedIds> {
    this.closed ??= this.shut();
    return this.closed;
  }

  private async shut(): Promise<DroppedIds> {
    const reason = closedError();
    const dropped = { tags: this.tags.close(reason), snowflakes: this.snowflakeBuffer.close(reason) };
    this.closing.abort();
    await Promise.all(this.servers.map(({ connection }) => connection.close()));
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
    'This Leaf client is closed: the application is stopping, or made another one.',
  );
}
