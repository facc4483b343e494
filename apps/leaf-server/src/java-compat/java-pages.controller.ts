import { Controller, Get, Inject, Optional, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { LeafError, type TagRow, TagStore } from '@leaf-ids/core';
import { LEAF_CONFIG } from '../config/config.module';
import type { LeafConfig } from '../config/leaf-config';
import { html } from '../http/responses/html';
import { streamBody } from '../http/responses/stream-body';
import { ApiOperation, ApiResponse, ApiTags } from '../openapi/decorators';
import { ApiPage, cutPage, linkNext, NEXT_PAGE, nextQuery, type PageRequest, pageRequest } from '../openapi/paging';
import { ApiProblems, TAG_ROW_PROBLEMS } from '../openapi/problems';
import { HTML } from '../openapi/schemas';
import { type Cell, type Table, TABLE_PAGE_CSP, tablePage } from './table-page';
import { AggregatedTags } from '../monitor/server/aggregated-tags';
import type { MonitorTag } from '../monitor/views/views';

const CACHE_COLUMNS = ['name', 'init', 'next', 'pos', 'value0', 'max0', 'step0', 'value1', 'max1', 'step1'];
const DB_COLUMNS = ['tag', 'max', 'step', 'update'];

/** The two pages of the Java service, at the same paths. */
@Controller()
@ApiTags('Java service')
export class JavaPagesController {
  constructor(
    private readonly views: AggregatedTags,
    @Inject(LEAF_CONFIG) private readonly config: LeafConfig,
    @Optional() private readonly store?: TagStore,
  ) {}

  /** The double buffers in memory. */
  @Get('cache')
  @ApiOperation({
    operationId: 'javaCachePage',
    summary: 'The double buffers as a page',
    description: 'A page of tags. `pos` is always 0: the current segment comes first.',
  })
  @ApiPage()
  @ApiResponse({ status: 200, description: 'The page.', headers: NEXT_PAGE, ...HTML })
  @ApiProblems('LEAF_SEGMENT_DISABLED')
  async cache(
    @Query('after') after: unknown,
    @Query('limit') limit: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    this.rows();
    const request = pageRequest(after, limit);
    const { tags, end } = await this.views.page(request);
    this.send(reply, { title: 'cache', columns: CACHE_COLUMNS, rows: tags, cells: bufferCells }, request, end);
  }

  /** The rows of `leaf_alloc`. */
  @Get('db')
  @ApiOperation({
    operationId: 'javaDbPage',
    summary: 'The rows of leaf_alloc as a page',
    description: 'A page of tags.',
  })
  @ApiPage()
  @ApiResponse({ status: 200, description: 'The page.', headers: NEXT_PAGE, ...HTML })
  @ApiProblems('LEAF_OVERLOADED', ...TAG_ROW_PROBLEMS)
  async db(@Query('after') after: unknown, @Query('limit') limit: unknown, @Res() reply: FastifyReply): Promise<void> {
    const request = pageRequest(after, limit);
    const found = await this.rows().list({ after: request.after, limit: request.limit + 1 });
    const { page: rows, last } = cutPage(found, request.limit);
    this.send(reply, { title: 'db', columns: DB_COLUMNS, rows, cells: storedCells }, request, last?.tag);
  }

  /** @param end the last tag of this page; undefined on the last page */
  private send<Row>(reply: FastifyReply, table: Table<Row>, { limit }: PageRequest, end: string | undefined): void {
    void reply.headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': TABLE_PAGE_CSP });
    linkNext(reply, end, limit);
    const next = end === undefined ? '' : html`<a rel="next" href="${nextQuery(end, limit)}">Next page</a>`;
    streamBody(reply, tablePage(table, next, `${this.config.publicPath}/`), 'utf8');
  }

  private rows(): TagStore {
    if (this.store !== undefined) return this.store;
    throw new LeafError('LEAF_SEGMENT_DISABLED', 'Segment mode is off on this server. Set LEAF_SEGMENT_ENABLED=true.');
  }
}

/** The current segment comes first, so `pos` is always 0. Missing segments are 0, as in the Java service. */
function bufferCells({ tag, initialized, nextReady, segments }: MonitorTag): Cell[] {
  const cells = segments.flatMap((segment): Cell[] =>
    segment === null ? [0, 0, 0] : [segment.value, segment.max, segment.step],
  );
  return [tag, String(initialized), String(nextReady), 0, ...cells];
}

function storedCells({ tag, maxId, step, updatedAt }: TagRow): Cell[] {
  return [tag, String(maxId), step, new Date(updatedAt).toISOString()];
}
