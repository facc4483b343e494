import { Injectable } from '@nestjs/common';
import { broadcast, BusRequest, ProcessBus } from '../processes/process-bus';
import { Drain } from '../lifecycle/drain';
import { type Actor, Audit } from './audit';

/** True begins a drain, false ends it. */
const DRAIN_COMMAND = new BusRequest<boolean, void>('drain');

/** Drains this server, all of its processes. */
@Injectable()
export class ServerAdmin {
  constructor(
    private readonly drain: Drain,
    private readonly audit: Audit,
    private readonly bus: ProcessBus,
  ) {
    bus.serve(DRAIN_COMMAND, (begin) => (begin ? drain.begin() : drain.undo()));
  }

  /** @throws LeafError `LEAF_NOT_READY` if a drain is undone while the server stops, or if a process fails */
  async setDraining(by: Actor, draining: boolean): Promise<{ readonly draining: boolean }> {
    const what = draining ? 'drain server' : 'undo drain of server';
    const { after } = await this.audit.record(by, what, undefined, async () => {
      const before = this.state();
      await broadcast(this.bus, DRAIN_COMMAND, draining);
      return { before, after: this.state() };
    });
    return after;
  }

  private state(): { readonly draining: boolean } {
    return { draining: this.drain.active };
  }
}
