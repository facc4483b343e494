import { Injectable, Logger, Optional } from '@nestjs/common';
import { reasonOf } from '@leaf-ids/core';
import { SegmentService } from '@leaf-ids/segment';
import { Drain } from '../lifecycle/drain';
import { WorkerBus, BusRequest } from './worker-bus';

interface State {
  readonly draining: boolean;
  readonly paused: readonly string[];
}

const STATE = new BusRequest<undefined, State>('state');

/** What operators have ordered and only memory knows: a process that takes the place of another one learns it. */
@Injectable()
export class SharedState {
  private readonly logger = new Logger(SharedState.name);

  constructor(
    private readonly bus: WorkerBus,
    private readonly drain: Drain,
    @Optional() private readonly segments?: SegmentService,
  ) {
    bus.serve(STATE, () => ({ draining: drain.active, paused: segments?.pausedTags() ?? [] }));
  }

  /** Takes over what the other processes hold. Before the first request. */
  async adopt(): Promise<void> {
    const { answers } = await this.bus.ask(STATE, undefined);
    const states = answers.map(({ value }) => value);
    if (states.some(({ draining }) => draining)) this.drain.begin();
    const paused = new Set(states.flatMap((state) => state.paused));
    await Promise.all([...paused].map((tag) => this.pause(tag)));
  }

  private async pause(tag: string): Promise<void> {
    try {
      await this.segments?.pause(tag);
    } catch (error) {
      this.logger.warn(
        `Tag "${tag}" is paused in the other processes, and could not be in this one: ${reasonOf(error)}`,
      );
    }
  }
}
