import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LeafError } from '@leaf-ids/core';
import { PAGE_CSP } from '../http/responses/html';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '../openapi/decorators';
import { ApiProblems } from '../openapi/problems';
import { contentOf, HTML } from '../openapi/schemas';
import { acceptedEncoding, type Encoding, isUnchanged, type SiteFile, StaticAssets } from './static-assets';

const ENCODINGS: readonly Encoding[] = ['br', 'gzip'];
const HEADERS = {
  'content-security-policy': PAGE_CSP,
  'referrer-policy': 'no-referrer',
  vary: 'accept-encoding',
};
const REVALIDATE = 'no-cache';
const CACHE_FOREVER = 'public, max-age=31536000, immutable';
const UNCHANGED = { status: 304, description: 'Unchanged: `If-None-Match` matches.' };
const NOT_BUILT = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Leaf</title>
<h1>Leaf</h1>
<p>This server is running, but its web console is not built. Run <code>npm run build</code>, then restart the server.
<p>IDs: <code>GET /api/segment/get/:tag</code>, <code>GET /api/snowflake/get/:key</code>. Health: <a href="health/ready">health/ready</a>.
</html>
`;

/** The web console: one page and its files. */
@Controller()
@ApiTags('Console')
export class ConsoleController {
  constructor(private readonly assets: StaticAssets) {}

  @Get()
  @ApiOperation({ operationId: 'console', summary: 'The page of the console' })
  @ApiResponse({ status: 200, description: 'The page.', ...HTML })
  @ApiResponse(UNCHANGED)
  @ApiResponse({ status: 404, description: 'The console is not built; the page explains how to build it.', ...HTML })
  page(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const { page } = this.assets;
    if (page !== undefined) {
      answer(page, REVALIDATE, request, reply);
      return;
    }
    void reply.headers({ ...HEADERS, 'content-type': 'text/html; charset=utf-8' });
    void reply.status(404).send(NOT_BUILT);
  }

  /** @throws LeafError `LEAF_NOT_FOUND` */
  @Get('assets/:name')
  @ApiOperation({ operationId: 'consoleAsset', summary: 'A file of the console' })
  @ApiParam({
    name: 'name',
    description: 'File name with a hash of its content.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$', example: 'index-Dk3xQ0aB.js' },
  })
  @ApiResponse({ status: 200, description: 'Script, style or image.', ...contentOf('*/*', 'The file.') })
  @ApiResponse(UNCHANGED)
  @ApiProblems('LEAF_NOT_FOUND')
  asset(@Param('name') name: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const file = this.assets.asset(name);
    if (file === undefined) {
      throw new LeafError(
        'LEAF_NOT_FOUND',
        `The web console has no file "${name}". Reload the page: it may be from an older version.`,
      );
    }
    answer(file, CACHE_FOREVER, request, reply);
  }
}

function answer(file: SiteFile, caching: string, { headers }: FastifyRequest, reply: FastifyReply): void {
  const { type, body, compressed, etag } = file;
  void reply.headers({ ...HEADERS, 'cache-control': caching, etag });
  if (isUnchanged(headers['if-none-match'], etag)) {
    void reply.status(304).send();
    return;
  }
  const offered = ENCODINGS.filter((encoding) => compressed[encoding] !== undefined);
  const encoding = acceptedEncoding(headers['accept-encoding']?.toString(), offered);
  if (encoding !== undefined) void reply.header('content-encoding', encoding);
  void reply.header('content-type', type).send((encoding && compressed[encoding]) ?? body);
}
