import { Controller, Get, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { JSON_TYPE } from '../http/fast-path';
import { jsonPages } from '../http/responses/json-stream';
import { streamBody } from '../http/responses/stream-body';
import { TAG_ROW_PROBLEMS } from '../openapi/problem-responses';
import { Describe, json } from '../openapi/route-description';
import { arrayOf } from '../openapi/schema';
import { TAG } from '../openapi/shared-schemas';
import { TagAdmin } from './tag-admin';
import { TAG_ROW, type TagResponse, toTagResponse } from './tag-rows';

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
  async list(@Res() reply: FastifyReply): Promise<void> {
    const pieces = jsonPages('[', await this.tags.list(), toTagResponse, ']');
    streamBody(reply.type(JSON_TYPE), pieces, 'utf8');
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
