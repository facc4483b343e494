import type { ServerResponse } from 'node:http';
import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Clock, LeafError } from '@leaf-ids/core';
import { PeriodicTask, reasonOf, Ticker } from '@leaf-ids/core/internal';
import { PeerWatch } from '../sampling/peer-watch';
import { Traffic } from '../sampling/traffic';
import { AggregatedMonitor } from '../server/aggregated-monitor';
import { AggregatedTags } from '../server/aggregated-tags';
import type { HistoryView, OverviewView, RemovedView, SnowflakeView } from '../views/views';
import { TagChangeLog } from '../process/tag-change-log';

/** Interval between two rounds of the streams, in milliseconds. */
const EVERY_MS = 1000;
const MAX_STREAMS = 32;
/** One client cannot take the streams of the others. */
const MAX_STREAMS_OF_CLIENT = 16;
/** Delay before a client reopens a stream that was cut, in milliseconds. */
const RETRY_MS = 2000;
/** `Retry-After` when all streams are in use, in milliseconds. */
const FULL_RETRY_MS = 10_000;

/** Results of a round besides the tags; the same for all readers. */
interface Round {
  readonly overview: OverviewView;
  readonly snowflake: SnowflakeView;
  /** Steps of the history that had ended. */
  readonly steps: number;
}

/**
 * The readers of the stream. Once a second this server is looked at, for all of them; each gets what it has not seen yet.
 * One that is still busy with the last round misses this one, and gets both with the next. Without readers, nothing is
 * looked at and nothing kept.
 */
@Injectable()
export class StreamHub implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(StreamHub.name);
  /** Open streams, with the client network of the reader. */
  private readonly streams = new Map<EventStream, string>();
  private readonly board: TagChangeLog;
  private readonly rounds: PeriodicTask;
  private readonly ticker: Ticker;
  private last: Round | undefined;
  private stopping = false;

  constructor(
    private readonly clock: Clock,
    private readonly monitor: AggregatedMonitor,
    private readonly traffic: Traffic,
    private readonly peers: PeerWatch,
    private readonly views: AggregatedTags,
  ) {
    this.board = new TagChangeLog(views);
    const onError = (error: unknown): void => this.logger.error(`A round of the stream failed: ${reasonOf(error)}`);
    this.rounds = new PeriodicTask('monitor-stream', () => this.look(), clock, onError);
    this.ticker = new Ticker(this.rounds.name, () => this.rounds.run(), { everyMs: EVERY_MS, atStart: true }, clock);
  }

  onApplicationBootstrap(): void {
    this.ticker.start();
  }

  /** The streams end first of all: HTTP closes only when every answer has ended. */
  async onModuleDestroy(): Promise<void> {
    this.stopping = true;
    for (const stream of this.streams.keys()) stream.end();
    await this.ticker.stop();
  }

  /** @throws LeafError `LEAF_OVERLOADED`, `LEAF_NOT_READY` if `client`, a network, cannot have one more stream */
  assertRoom(client: string): void {
    if (this.stopping) {
      throw new LeafError('LEAF_NOT_READY', 'This server is stopping: watch another one.', { retryAfterMs: RETRY_MS });
    }
    const ofClient = [...this.streams.values()].filter((other) => other === client).length;
    if (this.streams.size < MAX_STREAMS && ofClient < MAX_STREAMS_OF_CLIENT) return;
    throw new LeafError(
      'LEAF_OVERLOADED',
      `This server has ${this.streams.size} streams, ${ofClient} of them to this address; the limits are ${MAX_STREAMS} and ${MAX_STREAMS_OF_CLIENT}. Close one, or poll /api/monitor/overview.`,
      { retryAfterMs: FULL_RETRY_MS },
    );
  }

  /** Feeds one more reader of `client`; its headers are sent. */
  open(response: ServerResponse, client: string): void {
    const stream = new EventStream(response, this.clock);
    this.streams.set(stream, client);
    stream.onGone(() => this.streams.delete(stream));
    void this.begin(stream);
  }

  /** The comment makes proxies forward the headers at once. */
  private async begin(stream: EventStream): Promise<void> {
    if (!(await stream.send(`: leaf\nretry: ${RETRY_MS}\n\n`))) return;
    if (this.last === undefined) await this.rounds.run();
    else this.feed(stream, this.last);
  }

  private async look(): Promise<void> {
    if (this.streams.size === 0) {
      this.last = undefined;
      this.board.clear();
      return;
    }
    void this.peers.refresh();
    await this.views.refresh();
    await this.board.update();
    const [overview, snowflake] = await Promise.all([this.monitor.overview(), this.monitor.snowflake()]);
    this.last = { overview, snowflake, steps: this.traffic.stepsEnded };
    for (const stream of this.streams.keys()) this.feed(stream, this.last);
    this.board.forgetGone(Math.min(...Array.from(this.streams.keys(), ({ round }) => round)));
  }

  private feed(stream: EventStream, round: Round): void {
    if (stream.busy) return;
    stream.busy = true;
    this.deliver(stream, round)
      .catch((error: unknown) => {
        this.logger.error(`A stream ended early: ${reasonOf(error)}`);
        stream.end();
      })
      .finally(() => (stream.busy = false));
  }

  /** Everything after what the reader has; what changes meanwhile it gets once more with the next round. */
  private async deliver(stream: EventStream, { overview, snowflake, steps }: Round): Promise<void> {
    const { round } = this.board;
    const history = newest(overview.history, steps - stream.steps);
    const removed: RemovedView = { tags: stream.round === 0 ? [] : this.board.goneAfter(stream.round) };
    if (!(await stream.send(event('overview', JSON.stringify({ ...overview, history }))))) return;
    if (removed.tags.length > 0 && !(await stream.send(event('removed', JSON.stringify(removed))))) return;
    let pages = 0;
    for (const tags of this.board.changesAfter(stream.round)) {
      pages++;
      if (!(await stream.send(event('segments', this.views.json(tags))))) return;
      // A socket that takes an event at once says so before the event loop turns.
      await this.clock.sleep(0);
    }
    if (stream.round === 0 && pages === 0 && !(await stream.send(event('segments', this.views.json([]))))) return;
    if (!(await stream.send(event('snowflake', JSON.stringify(snowflake))))) return;
    stream.round = round;
    stream.steps = steps;
  }
}

/** The last `count` steps of it. */
function newest(history: HistoryView, count: number): HistoryView {
  const cut = (rates: readonly number[]): readonly number[] => (count > 0 ? rates.slice(-count) : []);
  const { segment, snowflake, errors } = history;
  return { ...history, segment: cut(segment), snowflake: cut(snowflake), errors: cut(errors) };
}

/** `json` has no line breaks. */
function event(name: string, json: string): string {
  return `event: ${name}\ndata: ${json}\n\n`;
}

/** Time without a read after which a reader is disconnected, in milliseconds. */
const STALL_MS = 15_000;

/** One reader of server-sent events. What it does not take is not piled up: who sends waits, or finds it gone. */
export class EventStream {
  /** The newest round of which it has everything; 0 before the first. */
  round = 0;
  /** Steps of the history that it has. */
  steps = 0;
  /** A round is on its way to it. */
  busy = false;

  constructor(
    private readonly response: ServerResponse,
    private readonly clock: Clock,
  ) {}

  onGone(act: () => void): void {
    this.response.on('close', act);
  }

  /** Resolves when there is room for more; with false when the reader is gone. */
  async send(text: string): Promise<boolean> {
    if (this.gone) return false;
    if (!this.response.write(text)) await this.drained();
    return !this.gone;
  }

  /** Ends the stream without waiting for the reader, so that it does not delay the stop of the server. */
  end(): void {
    if (this.response.writableLength > 0) this.response.destroy();
    else this.response.end();
  }

  private get gone(): boolean {
    return this.response.destroyed || this.response.writableEnded;
  }

  private async drained(): Promise<void> {
    const alarm = new AbortController();
    const wake = (): void => alarm.abort(null);
    this.response.once('drain', wake).once('close', wake);
    await this.clock.sleep(STALL_MS, alarm.signal);
    this.response.off('drain', wake).off('close', wake);
    if (!alarm.signal.aborted) this.response.destroy();
  }
}
