import { Injectable, Logger, Optional } from '@nestjs/common';
import { LeafError, Numbers, type TagEntry, type TagKind, type TagPage, type TagRow, TagStore } from '@leaf-ids/core';
import {
  assertTag,
  DEFAULT_STEP,
  jsonOfTag,
  type SegmentIdGenerator,
  type TagJson,
  unknownTag,
} from '@leaf-ids/core/internal';
import { Leaf, SegmentService } from '@leaf-ids/id';
import { broadcast, BusRequest, ProcessBus } from '../processes/process-bus';
import { type Actor, Audit } from './audit';
import type { TagResponse } from './tag-rows';
import type { ContinueBody, NewTagBody, TagChangeBody } from './tag-bodies';

const TAG_ADDED = new BusRequest<TagEntry, void>('tag added');
const TAG_REMOVED = new BusRequest<string, void>('tag removed');
/** The response is true if the state changed. */
const TAG_PAUSE = new BusRequest<{ readonly tag: string; readonly paused: boolean }, boolean>('tag pause');

/** Manages the tags in the database. This server applies each change immediately and records it in the audit log. */
@Injectable()
export class TagAdmin {
  private readonly logger = new Logger(TagAdmin.name);

  constructor(
    private readonly audit: Audit,
    private readonly bus: ProcessBus,
    @Optional() private readonly store?: TagStore,
    @Optional() private readonly segments?: SegmentService,
    @Optional() private readonly numbers?: Numbers,
    @Optional() private readonly leaf?: Leaf,
  ) {
    bus.serve(TAG_ADDED, (entry) => segments?.generator.add(entry));
    bus.serve(TAG_REMOVED, (tag) => segments?.generator.remove(tag));
    bus.serve(TAG_PAUSE, ({ tag, paused }) => (paused ? this.modeOn().pause(tag) : this.modeOn().resume(tag)));
  }

  /** @throws LeafError see {@link TagStore.list} */
  async list(page: TagPage): Promise<TagRow[]> {
    return this.rows().list(page);
  }

  /** The JSON of a row, with the name of its database if there are several. */
  jsonOf(row: TagRow): TagJson {
    return jsonOfTag(row, this.rows().shardOf(row.tag));
  }

  /** As {@link jsonOf}, with the time at which the tag runs out of IDs if it is known. */
  viewOf(row: TagRow): TagResponse {
    const endsAt = this.leaf?.tagEnds?.endOf(row);
    return { ...this.jsonOf(row), ...(endsAt !== undefined && { endsAt: new Date(endsAt).toISOString() }) };
  }

  /** @throws LeafError `LEAF_TAG_INVALID`, `LEAF_TAG_NOT_FOUND` */
  async find(tag: string): Promise<TagResponse> {
    assertTag(tag);
    const row = await this.rows().find(tag);
    if (row === undefined) throw unknownTag(tag);
    return this.viewOf(row);
  }

  /** @throws LeafError see {@link TagStore.create} */
  async create(by: Actor, { tag, step = DEFAULT_STEP, maxId, max, ...settings }: NewTagBody): Promise<TagJson> {
    assertTag(tag);
    const { after } = await this.audit.record(by, 'create tag', tag, async () => {
      const row = await this.rows().create({ tag, step, maxId: toBigInt(maxId), max: toBigInt(max), ...settings });
      await this.notify(TAG_ADDED, tag, { tag, kind: kindOf(row) });
      return { after: this.jsonOf(row) };
    });
    return after;
  }

  /** @throws LeafError see {@link TagStore.change}, and `LEAF_BODY_INVALID` if the body changes nothing */
  async change(by: Actor, tag: string, body: TagChangeBody): Promise<TagJson> {
    assertTag(tag);
    const { step, maxStep, max, maxId, description } = body;
    if ([step, maxStep, max, maxId, description].every((value) => value === undefined)) {
      throw new LeafError(
        'LEAF_BODY_INVALID',
        'The body changes nothing. Send step, maxStep, max, maxId or description.',
      );
    }
    const change = { step, maxStep, max: max === null ? null : toBigInt(max), maxId: toBigInt(maxId), description };
    const { after } = await this.audit.record(by, 'change tag', tag, async () => {
      const rows = await this.rows().change(tag, change);
      return { before: this.jsonOf(rows.before), after: this.jsonOf(rows.after) };
    });
    return after;
  }

  /** @throws LeafError see {@link TagStore.remove} */
  async remove(by: Actor, tag: string): Promise<void> {
    assertTag(tag);
    await this.audit.record(by, 'delete tag', tag, async () => {
      const row = await this.rows().remove(tag);
      await this.notify(TAG_REMOVED, tag, tag);
      return { before: this.jsonOf(row) };
    });
  }

  /** @throws LeafError see {@link SegmentIdGenerator.pause} */
  async setPaused(by: Actor, tag: string, paused: boolean): Promise<void> {
    assertTag(tag);
    await this.audit.record(by, paused ? 'pause tag' : 'resume tag', tag, async () => {
      const changed = await broadcast(this.bus, TAG_PAUSE, { tag, paused });
      return { before: { paused: paused !== changed }, after: { paused } };
    });
  }

  /** @throws LeafError see {@link Numbers.continueAfter} */
  async continueAfter(by: Actor, tag: string, { period, lastNumber, reason }: ContinueBody): Promise<number> {
    const { after } = await this.audit.record(by, 'continue tag', tag, async () => {
      const where = { period, lastNumber: BigInt(lastNumber), by: by.name, reason };
      const skipped = await (this.numbers ?? this.off()).continueAfter(tag, where);
      return { after: { period, lastNumber, reason, skipped } };
    });
    return after.skipped;
  }

  /** Only logs failures: the row is already changed, and an unreachable process reads it at its next refresh. */
  private async notify<T>(request: BusRequest<T, void>, tag: string, payload: T): Promise<void> {
    const { missing } = await this.bus.ask(request, payload);
    for (const { process, reason, gone } of missing) {
      if (gone) continue;
      this.logger.warn(
        `${request.name}: process ${process} was not notified about tag "${tag}" and applies the change at its next refresh: ${reason}`,
      );
    }
  }

  private rows(): TagStore {
    return this.store ?? this.off();
  }

  private modeOn(): SegmentIdGenerator {
    return this.segments?.generator ?? this.off();
  }

  private off(): never {
    throw new LeafError('LEAF_SEGMENT_DISABLED', 'Segment mode is off on this server. Set LEAF_SEGMENT_ENABLED=true.');
  }
}

function kindOf({ order, reset, zone, interleave }: TagRow): TagKind {
  return { order, reset, zone, interleave };
}

function toBigInt(text: string | undefined): bigint | undefined {
  return text === undefined ? undefined : BigInt(text);
}
