import { Controller, Get, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { TAG_ROW_PROBLEMS } from '../openapi/problem-responses';
import { Describe, json } from '../openapi/route-description';
import { arrayOf } from '../openapi/schema';
import { TAG } from '../openapi/shared-schemas';
import { TagAdmin } from './tag-admin';
import { TAG_ROW, type TagResponse } from './tag-rows';

/** What there is, for everybody. */
@Controller('api/tags')
export class TagsController {
  constructor(private readonly tags: TagAdmin) {}

  @Get()
  @Describe({
    id: 'listTags',
    group: 'Tags',
    summary: 'All tags, by name',
    answers: { 200: json(arrayOf(TAG_ROW), 'The rows.') },
    problems: TAG_ROW_PROBLEMS,
  })
  list(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    void reply.header('content-type', 'application/json; charset=utf-8');
    return this.tags.listJson();
  }

  @Get(':tag')
  @Describe({
    id: 'findTag',
    group: 'Tags',
    summary: 'One tag',
    path: { tag: TAG },
    answers: { 200: json(TAG_ROW, 'The row.') },
    problems: ['LEAF_TAG_INVALID', 'LEAF_TAG_NOT_FOUND', ...TAG_ROW_PROBLEMS],
  })
  find(@Param('tag') tag: string): Promise<TagResponse> {
    return this.tags.find(tag);
  }
}
