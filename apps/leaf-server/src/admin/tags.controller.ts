import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { TagJson } from '@leaf-ids/core/internal';
import { JSON_TYPE } from '../http/fast-path';
import { jsonPages, streamBody } from '../http/responses/stream-body';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '../openapi/decorators';
import { ApiPage, cutPage, linkNext, NEXT_PAGE, pageRequest } from '../openapi/paging';
import { ApiProblems, TAG_ROW_PROBLEMS } from '../openapi/problems';
import { TAG } from '../openapi/schemas';
import { TagAdmin } from './tag-admin';
import { TagResponse } from './tag-rows';

/** Reads tags; needs no token. */
@Controller('api/tags')
@ApiTags('Tags')
export class TagsController {
  constructor(private readonly tags: TagAdmin) {}

  @Get()
  @ApiOperation({ operationId: 'listTags', summary: 'The tags by name, page by page' })
  @ApiPage()
  @ApiResponse({ status: 200, description: 'The rows.', type: [TagResponse], headers: NEXT_PAGE })
  @ApiProblems('LEAF_OVERLOADED', ...TAG_ROW_PROBLEMS)
  async list(@Query('after') from: unknown, @Query('limit') most: unknown, @Res() reply: FastifyReply): Promise<void> {
    const { after, limit } = pageRequest(from, most);
    const { page, last } = cutPage(await this.tags.list({ after, limit: limit + 1 }), limit);
    linkNext(reply, last?.tag, limit);
    const pieces = jsonPages('[', page, (row) => this.tags.jsonOf(row), ']');
    streamBody(reply.type(JSON_TYPE), pieces, 'utf8');
  }

  @Get(':tag')
  @ApiOperation({ operationId: 'findTag', summary: 'One tag' })
  @ApiParam({ name: 'tag', ...TAG })
  @ApiResponse({ status: 200, description: 'The row.', type: TagResponse })
  @ApiProblems('LEAF_TAG_INVALID', 'LEAF_TAG_NOT_FOUND', 'LEAF_OVERLOADED', ...TAG_ROW_PROBLEMS)
  find(@Param('tag') tag: string): Promise<TagJson> {
    return this.tags.find(tag);
  }
}
