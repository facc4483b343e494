import { Controller, Delete, HttpCode, Post } from '@nestjs/common';
import { Drain } from '../lifecycle/drain';
import { Describe, json } from '../openapi/route-description';
import { object, truth } from '../openapi/schema';
import { broadcast } from '../cluster/broadcast';
import { WorkerBus, BusRequest } from '../cluster/worker-bus';
import type { Actor } from './actor';
import { CurrentActor } from './actor';
import { AdminOnly } from './admin-only';
import { Audit } from './audit';

interface DrainResponse {
  readonly draining: boolean;
}

const DRAIN = object<DrainResponse>('Drain', { draining: truth('Whether the server wants no more requests.') });

/** True begins a drain, false ends it. */
const DRAIN_ORDER = new BusRequest<boolean, void>('drain');

/** This server, not those beside it. Every route here needs a token. */
@Controller('api/server')
@AdminOnly()
export class ServerAdminController {
  constructor(
    private readonly drain: Drain,
    private readonly audit: Audit,
    private readonly bus: WorkerBus,
  ) {
    bus.serve(DRAIN_ORDER, (begin) => (begin ? drain.begin() : drain.undo()));
  }

  @Post('drain')
  @Describe({
    id: 'drain',
    group: 'This server',
    summary: 'Lets load balancers look elsewhere',
    detail: '`/health/ready` turns 503 while IDs are still served, each on a connection that ends with its answer.',
    answers: { 200: json(DRAIN) },
  })
  @HttpCode(200)
  begin(@CurrentActor() by: Actor): Promise<DrainResponse> {
    return this.record(by, 'drain server', true);
  }

  /** @throws LeafError `LEAF_NOT_READY` when the server is stopping */
  @Delete('drain')
  @Describe({
    id: 'undoDrain',
    group: 'This server',
    summary: 'Ends a drain',
    answers: { 200: json(DRAIN) },
    problems: ['LEAF_NOT_READY'],
  })
  undo(@CurrentActor() by: Actor): Promise<DrainResponse> {
    return this.record(by, 'undo drain of server', false);
  }

  private async record(by: Actor, what: string, draining: boolean): Promise<DrainResponse> {
    const { after } = await this.audit.record(by, what, undefined, async () => {
      const before = this.state();
      await broadcast(this.bus, DRAIN_ORDER, draining);
      return { before, after: this.state() };
    });
    return after;
  }

  private state(): DrainResponse {
    return { draining: this.drain.active };
  }
}
