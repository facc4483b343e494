import { Body, Controller, Delete, HttpCode, Param, Patch, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { SEGMENT_PROBLEMS, TAG_ROW_PROBLEMS } from '../openapi/problem-responses';
import { Describe, json } from '../openapi/route-description';
import { object, text, truth } from '../openapi/schema';
import { ANY_TAG } from '../openapi/shared-schemas';
import type { Actor } from './actor';
import { CurrentActor } from './actor';
import { AdminOnly } from './admin-only';
import { BodyPipe } from './body.pipe';
import { TagAdmin } from './tag-admin';
import type * as Bodies from './tag-bodies';
import { NEW_TAG, TAG_CHANGE } from './tag-body-schemas';
import { TAG_ROW, type TagResponse } from './tag-rows';

interface PauseResponse {
  readonly tag: string;
  readonly paused: boolean;
}

const PAUSE = object<PauseResponse>('TagPause', { tag: ANY_TAG, paused: truth('Whether the tag is paused now.') });

/** Loaded with the first body that comes: most servers are never sent one. */
const bodies = (): Promise<typeof Bodies> => import('./tag-bodies.js');

/** Every route here needs a token. */
@Controller('api/tags')
@AdminOnly()
export class TagAdminController {
  constructor(private readonly tags: TagAdmin) {}

  @Post()
  @Describe({
    id: 'createTag',
    group: 'Tags',
    summary: 'Creates a tag',
    detail:
      'This server serves it at once, the others find it at its first request. A name that was deleted begins where the deleted tag had come to.',
    body: NEW_TAG,
    answers: {
      201: { ...json(TAG_ROW, 'The row.'), headers: { Location: text('The path of the tag.', '/api/tags/order') } },
    },
    problems: ['LEAF_TAG_INVALID', 'LEAF_TAG_EXISTS', 'LEAF_MAX_ID_BACKWARDS', ...TAG_ROW_PROBLEMS],
  })
  async create(
    @CurrentActor() by: Actor,
    @Body(new BodyPipe(async () => (await bodies()).NewTagBody)) body: Bodies.NewTagBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TagResponse> {
    const row = await this.tags.create(by, body);
    void reply.header('location', `/api/tags/${row.tag}`);
    return row;
  }

  @Patch(':tag')
  @Describe({
    id: 'changeTag',
    group: 'Tags',
    summary: 'Changes a tag',
    detail: 'What is left out stays. IDs that are buffered are given out before a higher `maxId` is reached.',
    path: { tag: ANY_TAG },
    body: TAG_CHANGE,
    answers: { 200: json(TAG_ROW, 'The row.') },
    problems: ['LEAF_TAG_INVALID', 'LEAF_TAG_NOT_FOUND', 'LEAF_MAX_ID_BACKWARDS', ...TAG_ROW_PROBLEMS],
  })
  change(
    @CurrentActor() by: Actor,
    @Param('tag') tag: string,
    @Body(new BodyPipe(async () => (await bodies()).TagChangeBody)) body: Bodies.TagChangeBody,
  ): Promise<TagResponse> {
    return this.tags.change(by, tag, body);
  }

  @Delete(':tag')
  @Describe({
    id: 'deleteTag',
    group: 'Tags',
    summary: 'Deletes a tag',
    detail: 'It gives no more IDs: at once on this server, within one refresh on the others.',
    path: { tag: ANY_TAG },
    answers: { 204: { description: 'Done.' } },
    problems: ['LEAF_TAG_INVALID', 'LEAF_TAG_NOT_FOUND', ...TAG_ROW_PROBLEMS],
  })
  @HttpCode(204)
  remove(@CurrentActor() by: Actor, @Param('tag') tag: string): Promise<void> {
    return this.tags.remove(by, tag);
  }

  @Post(':tag/pause')
  @Describe({
    id: 'pauseTag',
    group: 'Tags',
    summary: 'Pauses a tag on this server',
    detail: 'Its IDs are refused with `LEAF_TAG_PAUSED` and kept, until it is resumed or the server is restarted.',
    path: { tag: ANY_TAG },
    answers: { 200: json(PAUSE) },
    problems: SEGMENT_PROBLEMS,
  })
  @HttpCode(200)
  pause(@CurrentActor() by: Actor, @Param('tag') tag: string): Promise<PauseResponse> {
    return this.setPaused(by, tag, true);
  }

  @Post(':tag/resume')
  @Describe({
    id: 'resumeTag',
    group: 'Tags',
    summary: 'Resumes a tag on this server',
    path: { tag: ANY_TAG },
    answers: { 200: json(PAUSE) },
    problems: SEGMENT_PROBLEMS,
  })
  @HttpCode(200)
  resume(@CurrentActor() by: Actor, @Param('tag') tag: string): Promise<PauseResponse> {
    return this.setPaused(by, tag, false);
  }

  private async setPaused(by: Actor, tag: string, paused: boolean): Promise<PauseResponse> {
    await this.tags.setPaused(by, tag, paused);
    return { tag, paused };
  }
}
