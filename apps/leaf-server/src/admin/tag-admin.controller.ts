import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Patch, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import {
  ApiJsonBody,
  ApiOperation,
  ApiParam,
  ApiProperty,
  ApiResponse,
  ApiSchema,
  ApiTags,
} from '../openapi/decorators';
import { LEAF_CONFIG } from '../config/config.module';
import type { LeafConfig } from '../config/leaf-config';
import { BodyPipe } from '../http/responses/body.pipe';
import { ApiProblems, SEGMENT_PROBLEMS, TAG_ROW_PROBLEMS } from '../openapi/problems';
import { ANY_TAG, TAG } from '../openapi/schemas';
import { JSON_TYPE } from '../http/fast-path';
import { jsonPages, streamBody } from '../http/responses/stream-body';
import { ApiPage, cutPage, linkNext, NEXT_PAGE, pageRequest } from '../openapi/paging';
import { type Actor, CurrentActor } from './audit';
import { AdminOnly, ClusterCommand } from './admin.guard';
import { TagAdmin } from './tag-admin';
import type * as Bodies from './tag-bodies';
import { TagResponse } from './tag-rows';

@ApiSchema({ name: 'TagPause' })
class PauseResponse {
  @ApiProperty(ANY_TAG)
  readonly tag!: string;

  @ApiProperty({ description: 'Whether the tag is paused now.' })
  readonly paused!: boolean;
}

@ApiSchema({ name: 'TagContinued' })
class ContinueResponse {
  @ApiProperty(ANY_TAG)
  readonly tag!: string;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'How many numbers became void.' })
  readonly skipped!: number;
}

const LOCATION = {
  Location: {
    description: 'The path of the tag.',
    required: true,
    schema: { type: 'string', example: '/api/tags/order' },
  },
};

const newTag = async (): Promise<typeof Bodies.NewTagBody> => (await import('./tag-bodies.js')).NewTagBody;
const continuation = async (): Promise<typeof Bodies.ContinueBody> => (await import('./tag-bodies.js')).ContinueBody;
const tagChange = async (): Promise<typeof Bodies.TagChangeBody> => (await import('./tag-bodies.js')).TagChangeBody;

/** Every route here needs a token. */
@Controller('api/tags')
@ApiTags('Tags')
@AdminOnly()
export class TagAdminController {
  constructor(
    private readonly tags: TagAdmin,
    @Inject(LEAF_CONFIG) private readonly config: LeafConfig,
  ) {}

  @Post()
  @ApiOperation({
    operationId: 'createTag',
    summary: 'Creates a tag',
    description:
      'This server serves the tag immediately; other servers load it on its first request. A recreated tag continues after the last ID of the deleted one.',
  })
  @ApiJsonBody(newTag)
  @ApiResponse({ status: 201, description: 'The row.', type: TagResponse, headers: LOCATION })
  @ApiProblems('LEAF_TAG_INVALID', 'LEAF_TAG_EXISTS', 'LEAF_MAX_ID_BACKWARDS', ...TAG_ROW_PROBLEMS)
  async create(
    @CurrentActor() by: Actor,
    @Body(new BodyPipe(newTag)) body: Bodies.NewTagBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TagResponse> {
    const row = await this.tags.create(by, body);
    void reply.header('location', `${this.config.publicPath}/api/tags/${row.tag}`);
    return row;
  }

  @Patch(':tag')
  @ApiOperation({
    operationId: 'changeTag',
    summary: 'Changes a tag',
    description: 'Omitted properties keep their values. Buffered IDs are issued before IDs from a higher `maxId`.',
  })
  @ApiParam({ name: 'tag', ...ANY_TAG })
  @ApiJsonBody(tagChange)
  @ApiResponse({ status: 200, description: 'The row.', type: TagResponse })
  @ApiProblems('LEAF_TAG_INVALID', 'LEAF_TAG_NOT_FOUND', 'LEAF_MAX_ID_BACKWARDS', ...TAG_ROW_PROBLEMS)
  change(
    @CurrentActor() by: Actor,
    @Param('tag') tag: string,
    @Body(new BodyPipe(tagChange)) body: Bodies.TagChangeBody,
  ): Promise<TagResponse> {
    return this.tags.change(by, tag, body);
  }

  @Delete(':tag')
  @ApiOperation({
    operationId: 'deleteTag',
    summary: 'Deletes a tag',
    description: 'This server stops issuing its IDs immediately; other servers stop at their next refresh.',
  })
  @ApiParam({ name: 'tag', ...ANY_TAG })
  @ApiResponse({ status: 204, description: 'Done.' })
  @ApiProblems('LEAF_TAG_INVALID', 'LEAF_TAG_NOT_FOUND', 'LEAF_TAG_GAPLESS', ...TAG_ROW_PROBLEMS)
  @HttpCode(204)
  remove(@CurrentActor() by: Actor, @Param('tag') tag: string): Promise<void> {
    return this.tags.remove(by, tag);
  }

  @Post(':tag/pause')
  @ClusterCommand()
  @ApiOperation({
    operationId: 'pauseTag',
    summary: 'Pauses a tag on this server',
    description:
      'Requests for its IDs fail with `LEAF_TAG_PAUSED` until the tag is resumed or the server restarts. No IDs are lost.',
  })
  @ApiParam({ name: 'tag', ...ANY_TAG })
  @ApiResponse({ status: 200, description: 'Done.', type: PauseResponse })
  @ApiProblems(...SEGMENT_PROBLEMS)
  @HttpCode(200)
  pause(@CurrentActor() by: Actor, @Param('tag') tag: string): Promise<PauseResponse> {
    return this.setPaused(by, tag, true);
  }

  @Post(':tag/resume')
  @ClusterCommand()
  @ApiOperation({ operationId: 'resumeTag', summary: 'Resumes a tag on this server' })
  @ApiParam({ name: 'tag', ...ANY_TAG })
  @ApiResponse({ status: 200, description: 'Done.', type: PauseResponse })
  @ApiProblems(...SEGMENT_PROBLEMS)
  @HttpCode(200)
  resume(@CurrentActor() by: Actor, @Param('tag') tag: string): Promise<PauseResponse> {
    return this.setPaused(by, tag, false);
  }

  @Post(':tag/continue')
  @ApiOperation({
    operationId: 'continueTag',
    summary: 'Says where a gapless tag goes on',
    description:
      'After a failover or a restore that may have lost numbers. Numbers up to the last one that no document has become void, with the reason.',
  })
  @ApiParam({ name: 'tag', ...ANY_TAG })
  @ApiJsonBody(continuation)
  @ApiResponse({ status: 200, description: 'Done.', type: ContinueResponse })
  @ApiProblems(
    'LEAF_TAG_INVALID',
    'LEAF_TAG_NOT_FOUND',
    'LEAF_TAG_NOT_GAPLESS',
    'LEAF_TAG_EXHAUSTED',
    'LEAF_MAX_ID_BACKWARDS',
    'LEAF_PERIOD_INVALID',
    ...TAG_ROW_PROBLEMS,
  )
  @HttpCode(200)
  async continueTag(
    @CurrentActor() by: Actor,
    @Param('tag') tag: string,
    @Body(new BodyPipe(continuation)) body: Bodies.ContinueBody,
  ): Promise<ContinueResponse> {
    return { tag, skipped: await this.tags.continueAfter(by, tag, body) };
  }

  private async setPaused(by: Actor, tag: string, paused: boolean): Promise<PauseResponse> {
    await this.tags.setPaused(by, tag, paused);
    return { tag, paused };
  }
}

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
    const pieces = jsonPages('[', page, (row) => this.tags.viewOf(row), ']');
    streamBody(reply.type(JSON_TYPE), pieces, 'utf8');
  }

  @Get(':tag')
  @ApiOperation({ operationId: 'findTag', summary: 'One tag' })
  @ApiParam({ name: 'tag', ...TAG })
  @ApiResponse({ status: 200, description: 'The row.', type: TagResponse })
  @ApiProblems('LEAF_TAG_INVALID', 'LEAF_TAG_NOT_FOUND', 'LEAF_OVERLOADED', ...TAG_ROW_PROBLEMS)
  find(@Param('tag') tag: string): Promise<TagResponse> {
    return this.tags.find(tag);
  }
}
