import { Readable } from 'node:stream';
import { Body, Controller, Get, HttpCode, Inject, Param, Post, Put, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Clock, LeafError, type NumberAnswer, type Numbers } from '@leaf-ids/core';
import {
  cursorOf,
  jsonOfAudit,
  MAX_KEYS,
  MAX_TAGS_PER_PAGE,
  parseCursor,
  PERIOD_PATTERN,
} from '@leaf-ids/core/internal';
import { Leaf } from '@leaf-ids/id';
import { JSON_TYPE } from '../http/fast-path';
import { BodyPipe } from '../http/responses/body.pipe';
import { DATA_CSP } from '../http/responses/html';
import { jsonPages, streamBody } from '../http/responses/stream-body';
import { ApiJsonBody, ApiOperation, ApiParam, ApiQuery, ApiResponse, ApiTags } from '../openapi/decorators';
import { cutPage, NEXT_PAGE, pageRequest } from '../openapi/paging';
import { ApiProblems } from '../openapi/problems';
import { ANY_TAG } from '../openapi/schemas';
import { AuditResponse, DOCUMENT, NumberResponse, NumbersResponse, STATE } from './number-answers';
import type * as Bodies from './number-bodies';
import { assertNoQuery, csvOf, htmlOf, parseState, parseText } from './number-pages';
import { numbersOf } from './numbers-of';
import { parseMoment } from './parameters';
import { Charged, CurrentClient, TakesIds } from './takes-ids';

const dateBody = async (): Promise<typeof Bodies.NumberBody> => (await import('./number-bodies.js')).NumberBody;
const keysBody = async (): Promise<typeof Bodies.NumbersBody> => (await import('./number-bodies.js')).NumbersBody;
const reasonBody = async (): Promise<typeof Bodies.ReasonBody> => (await import('./number-bodies.js')).ReasonBody;

const READ_PROBLEMS = [
  'LEAF_TAG_INVALID',
  'LEAF_TAG_NOT_FOUND',
  'LEAF_TAG_NOT_GAPLESS',
  'LEAF_TAG_ROW_INVALID',
  'LEAF_SEGMENT_DISABLED',
  'LEAF_STORE_UNAVAILABLE',
] as const;
const WRITE_PROBLEMS = [...READ_PROBLEMS, 'LEAF_OVERLOADED', 'LEAF_NUMBERS_HISTORY_LOST'] as const;
const ISSUE_PROBLEMS = [
  ...WRITE_PROBLEMS,
  'LEAF_TAG_PAUSED',
  'LEAF_PERIOD_INVALID',
  'LEAF_NUMBER_EXISTS',
  'LEAF_TAG_EXHAUSTED',
] as const;
const SETTLE_PROBLEMS = [...WRITE_PROBLEMS, 'LEAF_NUMBER_NOT_FOUND', 'LEAF_NUMBER_SETTLED'] as const;

const PATH_TAG = { name: 'tag', ...ANY_TAG, example: 'invoice' } as const;
const PATH_KEY = { name: 'key', ...DOCUMENT } as const;
const PERIOD = {
  name: 'period',
  required: false,
  schema: { type: 'string', pattern: PERIOD_PATTERN.source, example: '2026-11' },
} as const;

const takesNone = (): number => 0;

/** Numbers without gaps, one for each document: docs/numbers.md. */
@Controller('api/numbers/:tag')
@ApiTags('Numbers')
export class NumberController {
  constructor(
    private readonly leaf: Leaf,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  @Put()
  @Charged(({ body }) => countOfKeys(body))
  @ApiOperation({
    operationId: 'issueNumbers',
    summary: 'The numbers of several documents, in the order of their keys',
    description: 'All or none, in one transaction. A document that has a number keeps it.',
  })
  @ApiParam(PATH_TAG)
  @ApiJsonBody(keysBody)
  @ApiResponse({ status: 201, description: 'At least one number is new.', type: NumbersResponse })
  @ApiResponse({ status: 200, description: 'All documents had their numbers.', type: NumbersResponse })
  @ApiProblems(...ISSUE_PROBLEMS, 'LEAF_SIZE_INVALID')
  async issueAll(
    @Param('tag') tag: string,
    @Body(new BodyPipe(keysBody)) { keys, at }: Bodies.NumbersBody,
    @Query() query: Record<string, unknown>,
    @CurrentClient() by: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NumbersResponse> {
    assertNoQuery(query);
    const answers = await this.numbers.issue(tag, keys, by, parseMoment(at));
    void reply.status(answers.some(({ isNew }) => isNew) ? 201 : 200);
    return { numbers: answers.map(({ number }) => this.numbers.jsonOf(tag, number)) };
  }

  @Put(':key')
  @TakesIds()
  @ApiOperation({
    operationId: 'issueNumber',
    summary: 'The number of a document',
    description: 'The next number if it has none; otherwise its number. Ask again with the same key when in doubt.',
  })
  @ApiParam(PATH_TAG)
  @ApiParam(PATH_KEY)
  @ApiJsonBody(dateBody)
  @ApiResponse({ status: 201, description: 'A new number.', type: NumberResponse })
  @ApiResponse({ status: 200, description: 'The number that it had.', type: NumberResponse })
  @ApiProblems(...ISSUE_PROBLEMS)
  async issue(
    @Param('tag') tag: string,
    @Param('key') key: string,
    @Body(new BodyPipe(dateBody, {})) { at }: Bodies.NumberBody,
    @Query() query: Record<string, unknown>,
    @CurrentClient() by: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NumberResponse> {
    assertNoQuery(query);
    const [answer] = await this.numbers.issue(tag, [key], by, parseMoment(at));
    void reply.status(answer?.isNew === true ? 201 : 200);
    return this.jsonOf(tag, answer);
  }

  @Post(':key/confirm')
  @Charged(takesNone)
  @ApiOperation({
    operationId: 'confirmNumber',
    summary: 'Says that the document exists',
    description: 'Repeatable. A confirmed number cannot become void.',
  })
  @ApiParam(PATH_TAG)
  @ApiParam(PATH_KEY)
  @ApiResponse({ status: 200, description: 'The number.', type: NumberResponse })
  @ApiProblems(...SETTLE_PROBLEMS)
  @HttpCode(200)
  async confirm(
    @Param('tag') tag: string,
    @Param('key') key: string,
    @CurrentClient() by: string,
  ): Promise<NumberResponse> {
    return this.jsonOf(tag, await this.numbers.confirm(tag, key, by));
  }

  @Post(':key/void')
  @Charged(takesNone)
  @ApiOperation({
    operationId: 'voidNumber',
    summary: 'Says that no document has the number',
    description: 'Repeatable; the first reason stays. A void number cannot be confirmed.',
  })
  @ApiParam(PATH_TAG)
  @ApiParam(PATH_KEY)
  @ApiJsonBody(reasonBody)
  @ApiResponse({ status: 200, description: 'The number.', type: NumberResponse })
  @ApiProblems(...SETTLE_PROBLEMS)
  @HttpCode(200)
  async void(
    @Param('tag') tag: string,
    @Param('key') key: string,
    @Body(new BodyPipe(reasonBody)) { reason }: Bodies.ReasonBody,
    @CurrentClient() by: string,
  ): Promise<NumberResponse> {
    return this.jsonOf(tag, await this.numbers.void(tag, key, by, reason));
  }

  @Get('audit')
  @Charged(takesNone)
  @ApiOperation({
    operationId: 'auditNumbers',
    summary: 'Checks the numbers of a period and their journal',
    description: 'One at a time. As CSV or HTML, all numbers of the period are listed.',
  })
  @ApiParam(PATH_TAG)
  @ApiQuery({ ...PERIOD, description: 'The current one by default.' })
  @ApiQuery({
    name: 'format',
    required: false,
    schema: { type: 'string', enum: ['json', 'csv', 'html'], default: 'json' },
  })
  @ApiResponse({ status: 200, description: 'What was found.', type: AuditResponse })
  @ApiProblems(...READ_PROBLEMS, 'LEAF_PERIOD_INVALID', 'LEAF_OVERLOADED')
  async audit(
    @Param('tag') tag: string,
    @Query('period') period: unknown,
    @Query('format') format: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    if (format !== undefined && format !== 'json' && format !== 'csv' && format !== 'html') {
      throw new LeafError('LEAF_REQUEST_INVALID', 'The query is invalid: format must be json, csv or html.');
    }
    const { numbers } = this;
    const audit = await numbers.audit(tag, parseText('period', period));
    if (format === 'csv') {
      void reply.header('content-disposition', `attachment; filename="${fileName(audit.tag, audit.period)}.csv"`);
      await reply.type('text/csv; charset=utf-8').send(Readable.from(csvOf(numbers, audit)));
    } else if (format === 'html') {
      void reply.header('content-security-policy', DATA_CSP);
      await reply
        .type('text/html; charset=utf-8')
        .send(Readable.from(htmlOf(numbers, audit, new Date(this.clock.now()).toISOString())));
    } else {
      await reply.type(JSON_TYPE).send(jsonOfAudit(audit));
    }
  }

  @Get(':key')
  @Charged(takesNone)
  @ApiOperation({ operationId: 'findNumber', summary: 'The number that a document has' })
  @ApiParam(PATH_TAG)
  @ApiParam(PATH_KEY)
  @ApiResponse({ status: 200, description: 'The number.', type: NumberResponse })
  @ApiProblems(...READ_PROBLEMS, 'LEAF_NUMBER_NOT_FOUND')
  async find(@Param('tag') tag: string, @Param('key') key: string): Promise<NumberResponse> {
    return this.numbers.jsonOf(tag, await this.numbers.find(tag, key));
  }

  @Get()
  @Charged(takesNone)
  @ApiOperation({ operationId: 'listNumbers', summary: 'Numbers of a tag by period and number, page by page' })
  @ApiParam(PATH_TAG)
  @ApiQuery({ ...PERIOD, description: 'All periods by default.' })
  @ApiQuery({ name: 'state', required: false, schema: { type: 'string', enum: [...STATE.enum] } })
  @ApiQuery({
    name: 'after',
    required: false,
    description: 'The value in the header `Link` of the page before.',
    schema: { type: 'string', pattern: '^[^~]{0,16}~[0-9]{1,19}~[0-9]{1,9}$', example: '2026-11~42~0' },
  })
  @ApiQuery({
    name: 'limit',
    required: false,
    description: 'Maximum number of numbers in the response.',
    schema: { type: 'integer', minimum: 1, maximum: MAX_TAGS_PER_PAGE, default: MAX_TAGS_PER_PAGE, example: 100 },
  })
  @ApiResponse({ status: 200, description: 'The numbers.', type: [NumberResponse], headers: NEXT_PAGE })
  @ApiProblems(...READ_PROBLEMS, 'LEAF_PERIOD_INVALID')
  async list(
    @Param('tag') tag: string,
    @Query('period') period: unknown,
    @Query('state') state: unknown,
    @Query('after') after: unknown,
    @Query('limit') most: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { limit } = pageRequest(undefined, most);
    const query = {
      period: parseText('period', period),
      state: parseState(state),
      after: parseCursor(parseText('after', after)),
    };
    const { page, last } = cutPage(await this.numbers.list(tag, { ...query, limit: limit + 1 }), limit);
    if (last !== undefined) {
      const { period: of, state: only } = query;
      const rest = { ...(of === undefined ? {} : { period: of }), ...(only === undefined ? {} : { state: only }) };
      const next = new URLSearchParams({ ...rest, after: cursorOf(last), limit: String(limit) });
      void reply.header('link', `<?${next.toString()}>; rel="next"`);
    }
    const pieces = jsonPages('[', page, (number) => this.numbers.jsonOf(tag, number), ']');
    streamBody(reply.type(JSON_TYPE), pieces, 'utf8');
  }

  private jsonOf(tag: string, answer: NumberAnswer | undefined): NumberResponse {
    if (answer === undefined) throw new Error('The answer is missing.');
    return this.numbers.jsonOf(tag, answer.number);
  }

  /** @throws LeafError `LEAF_SEGMENT_DISABLED` */
  private get numbers(): Numbers {
    return numbersOf(this.leaf);
  }
}

/** Without characters that a file name or a header cannot have. */
function fileName(tag: string, period: string): string {
  return `${tag}${period === '' ? '' : `-${period}`}`.replaceAll(/[^\w.-]/g, '-');
}

/** The body is not checked yet. */
function countOfKeys(body: unknown): number {
  const { keys } = (body ?? {}) as { keys?: unknown };
  return Array.isArray(keys) ? Math.min(keys.length, MAX_KEYS) : 1;
}
