import { Controller, Get, Inject, Optional, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { LeafError, TagStore } from '@leaf-ids/core';
import { LEAF_CONFIG } from '../config/config.module';
import type { LeafConfig } from '../config/leaf-config';
import { PLAIN_PAGE_CSP } from '../http/responses/content-security';
import { ApiOperation, ApiResponse, ApiTags } from '../openapi/decorators';
import { ApiProblems, TAG_ROW_PROBLEMS } from '../openapi/problems';
import { HTML } from '../openapi/schemas';
import { type Cell, tablePage } from './table-page';
import { AggregatedTags } from '../monitor/server/aggregated-tags';
import type { TagView } from '../monitor/views/views';

/** Maximum rows of a page. The console lists all tags. */
const MAX_ROWS = 1000;
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
    description: 'The first 1000 tags. `pos` is always 0: the current segment comes first.',
  })
  @ApiResponse({ status: 200, description: 'The page.', ...HTML })
  @ApiProblems('LEAF_SEGMENT_DISABLED')
  async cache(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    this.rows();
    await this.views.refresh();
    const names = this.views.names();
    const rows = names.slice(0, MAX_ROWS).flatMap((tag) => {
      const view = this.views.viewOf(tag);
      return view === undefined ? [] : [bufferCells(view)];
    });
    return this.page(reply, 'cache', CACHE_COLUMNS, rows, names.length > MAX_ROWS);
  }

  /** The rows of `leaf_alloc`. */
  @Get('db')
  @ApiOperation({
    operationId: 'javaDbPage',
    summary: 'The rows of leaf_alloc as a page',
    description: 'The first 1000 tags.',
  })
  @ApiResponse({ status: 200, description: 'The page.', ...HTML })
  @ApiProblems(...TAG_ROW_PROBLEMS)
  async db(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    const rows = await this.rows().list(MAX_ROWS + 1);
    const cells = rows.map(({ tag, maxId, step, updatedAt }) => [
      tag,
      String(maxId),
      step,
      new Date(updatedAt).toISOString(),
    ]);
    return this.page(reply, 'db', DB_COLUMNS, cells.slice(0, MAX_ROWS), cells.length > MAX_ROWS);
  }

  private page(reply: FastifyReply, title: string, columns: string[], rows: Cell[][], more: boolean): string {
    void reply.headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': PLAIN_PAGE_CSP });
    const note = more ? `The first ${MAX_ROWS} tags; the console lists all of them.` : undefined;
    return tablePage(title, columns, rows, note, `${this.config.publicPath}/`);
  }

  private rows(): TagStore {
    if (this.store !== undefined) return this.store;
    throw new LeafError('LEAF_SEGMENT_DISABLED', 'Segment mode is off on this server. Set LEAF_SEGMENT_ENABLED=true.');
  }
}

/** The current segment comes first, so `pos` is always 0. Missing segments are 0, as in the Java service. */
function bufferCells({ tag, initialized, nextReady, segments }: TagView): Cell[] {
  const cells = segments.flatMap((segment): Cell[] =>
    segment === null ? [0, 0, 0] : [segment.value, segment.max, segment.step],
  );
  return [tag, String(initialized), String(nextReady), 0, ...cells];
}
