import { Controller, Get, Inject, Optional, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { IdService, LeafError, type TagRow, TagStore } from '@leaf-ids/core';
import { ApiOperation, ApiProperty, ApiQuery, ApiResponse, ApiTags } from '../openapi/decorators';
import { ApiProblems, TAG_ROW_PROBLEMS } from '../openapi/problems';
import { HTML, ID } from '../openapi/schemas';
import { parseId } from '../ids/id-text';
import { LEAF_CONFIG } from '../config/config.module';
import type { LeafConfig } from '../config/leaf-config';
import { html } from '../http/responses/html';
import { streamBody } from '../http/responses/stream-body';
import { ApiPage, cutPage, linkNext, NEXT_PAGE, nextQuery, type PageRequest, pageRequest } from '../openapi/paging';
import { AggregatedTags } from '../monitor/server/aggregated-tags';
import type { MonitorTag } from '../monitor/views/views';
import { type Cell, type Table, TABLE_PAGE_CSP, tablePage } from './table-page';

class JavaDecoded {
  @ApiProperty({
    description: 'Unix milliseconds, and the time in the time zone of the server.',
    example: '1567733700834(2019-09-06 09:35:00.834)',
  })
  readonly timestamp!: string;

  @ApiProperty({ description: 'Sequence number of the ID within its millisecond.', example: '3448' })
  readonly sequenceId!: string;

  @ApiProperty({ description: 'Worker ID of the process that generated the ID.', example: '39' })
  readonly workerId!: string;
}

/** Decodes IDs at the path of the Java service. */
@Controller()
@ApiTags('Java service')
export class JavaController {
  constructor(private readonly ids: IdService) {}

  /** Formats the time in the time zone of the process, as the Java service does. */
  @Get('decodeSnowflakeId')
  @ApiOperation({
    operationId: 'decodeAsJava',
    summary: 'The fields of a snowflake ID in the format of the Java service',
  })
  @ApiQuery({ name: 'snowflakeId', ...ID })
  @ApiResponse({ status: 200, description: 'The fields.', type: JavaDecoded })
  @ApiProblems('LEAF_ID_INVALID', 'LEAF_SNOWFLAKE_DISABLED')
  decode(@Query('snowflakeId') text: unknown): JavaDecoded {
    const { timestamp, workerId, sequence } = this.ids.decode(parseId(asLong(text)));
    return {
      timestamp: `${timestamp}(${localTime(timestamp)})`,
      sequenceId: String(sequence),
      workerId: String(workerId),
    };
  }
}

/** Java's `Long.parseLong` takes a plus sign and any number of leading zeros. */
function asLong(text: unknown): unknown {
  return typeof text === 'string' ? text.replace(/^\+?0*(?=\d)/, '') : text;
}

/** `yyyy-MM-dd HH:mm:ss.SSS`. */
function localTime(timestamp: number): string {
  const time = new Date(timestamp);
  const pad = (value: number, digits = 2): string => String(value).padStart(digits, '0');
  const date = [pad(time.getFullYear(), 4), pad(time.getMonth() + 1), pad(time.getDate())].join('-');
  const clock = [pad(time.getHours()), pad(time.getMinutes()), pad(time.getSeconds())].join(':');
  return `${date} ${clock}.${pad(time.getMilliseconds(), 3)}`;
}

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
