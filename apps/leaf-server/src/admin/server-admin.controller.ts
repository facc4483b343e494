import { Controller, Delete, HttpCode, Post, UseGuards } from '@nestjs/common';
import { Drain } from '../health/drain';
import type { Actor } from './actor';
import { By } from './actor';
import { AdminGuard } from './admin.guard';
import { Audit } from './audit';

interface DrainResponse {
  readonly draining: boolean;
}

/** This server, not those beside it. Every route here needs a token. */
@Controller('api/server')
@UseGuards(AdminGuard)
export class ServerAdminController {
  constructor(
    private readonly drain: Drain,
    private readonly audit: Audit,
  ) {}

  @Post('drain')
  @HttpCode(200)
  begin(@By() by: Actor): Promise<DrainResponse> {
    return this.record(by, 'drain server', () => this.drain.begin());
  }

  /** @throws LeafError `LEAF_NOT_READY` when the server is stopping */
  @Delete('drain')
  undo(@By() by: Actor): Promise<DrainResponse> {
    return this.record(by, 'undo drain of server', () => this.drain.undo());
  }

  private async record(by: Actor, what: string, act: () => void): Promise<DrainResponse> {
    const { after } = await this.audit.record(by, what, undefined, () => {
      const before = this.state();
      act();
      return { before, after: this.state() };
    });
    return after;
  }

  private state(): DrainResponse {
    return { draining: this.drain.active };
  }
}
