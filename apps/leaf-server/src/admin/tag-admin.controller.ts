import { Body, Controller, Delete, HttpCode, Param, Patch, Post, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Actor } from './actor';
import { By } from './actor';
import { AdminGuard } from './admin.guard';
import { BodyPipe } from './body.pipe';
import { TagAdmin } from './tag-admin';
import { NewTagBody, TagChangeBody } from './tag-bodies';
import type { TagResponse } from './tag-rows';

interface PauseResponse {
  readonly tag: string;
  readonly paused: boolean;
}

/** Every route here needs a token. */
@Controller('api/tags')
@UseGuards(AdminGuard)
export class TagAdminController {
  constructor(private readonly tags: TagAdmin) {}

  @Post()
  async create(
    @By() by: Actor,
    @Body(new BodyPipe(NewTagBody)) body: NewTagBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TagResponse> {
    const row = await this.tags.create(by, body);
    void reply.header('location', `/api/tags/${row.tag}`);
    return row;
  }

  @Patch(':tag')
  change(
    @By() by: Actor,
    @Param('tag') tag: string,
    @Body(new BodyPipe(TagChangeBody)) body: TagChangeBody,
  ): Promise<TagResponse> {
    return this.tags.change(by, tag, body);
  }

  @Delete(':tag')
  @HttpCode(204)
  remove(@By() by: Actor, @Param('tag') tag: string): Promise<void> {
    return this.tags.remove(by, tag);
  }

  @Post(':tag/pause')
  @HttpCode(200)
  pause(@By() by: Actor, @Param('tag') tag: string): Promise<PauseResponse> {
    return this.setPaused(by, tag, true);
  }

  @Post(':tag/resume')
  @HttpCode(200)
  resume(@By() by: Actor, @Param('tag') tag: string): Promise<PauseResponse> {
    return this.setPaused(by, tag, false);
  }

  private async setPaused(by: Actor, tag: string, paused: boolean): Promise<PauseResponse> {
    await this.tags.setPaused(by, tag, paused);
    return { tag, paused };
  }
}
