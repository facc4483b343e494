import { Injectable, Logger, Optional } from '@nestjs/common';
import { reasonOf } from '@leaf-ids/core/internal';
import { SegmentService } from '@leaf-ids/id';
import { Drain } from '../lifecycle/drain';
import { ClientAccess } from '../clients/client-access';
import { ProcessBus, BusRequest } from './process-bus';

interface State {
  readonly draining: boolean;
  readonly paused: readonly string[];
  readonly blockedClients: readonly string[];
}

const STATE = new BusRequest<undefined, State>('state');

/** Commands of operators that are only in memory: a process that replaces another one takes them over. */
@Injectable()
export class SharedState {
  private readonly logger = new Logger(SharedState.name);

  constructor(
    private readonly bus: ProcessBus,
    private readonly drain: Drain,
    private readonly clients: ClientAccess,
    @Optional() private readonly segments?: SegmentService,
  ) {
    bus.serve(STATE, () => ({
      draining: drain.active,
      paused: segments?.generator.pausedTags() ?? [],
      blockedClients: clients.blockedNames,
    }));
  }

  /** Takes over the state of the other processes. Call before the first request. */
  async adopt(): Promise<void> {
    const { answers } = await this.bus.ask(STATE, undefined);
    const states = answers.map(({ value }) => value);
    if (states.some(({ draining }) => draining)) this.drain.begin();
    for (const name of states.flatMap(({ blockedClients }) => blockedClients)) this.clients.setBlocked(name, true);
    const paused = new Set(states.flatMap((state) => state.paused));
    await Promise.all([...paused].map((tag) => this.pause(tag)));
  }

  private async pause(tag: string): Promise<void> {
    try {
      await this.segments?.generator.pause(tag);
    } catch (error) {
      this.logger.warn(
        `Tag "${tag}" is paused in the other processes, and could not be in this one: ${reasonOf(error)}`,
      );
    }
  }
}
