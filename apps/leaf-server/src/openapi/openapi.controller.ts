import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Controller, Get, Header, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { LeafError } from '@leaf-ids/core';
import { PAGE_CSP } from '../http/responses/html';
import { ApiDocument } from './api-document';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from './decorators';
import { ApiProblems } from './problems';
import { contentOf, HTML } from './schemas';

/** Files of Swagger UI that the page loads, with their content types. */
const SWAGGER_UI = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
} as const;
const START = 'start.js';
const FILES = [...Object.keys(SWAGGER_UI), START];

/** Own page, because that of `SwaggerModule.setup` has inline styles, which the content security policy blocks. */
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Leaf HTTP API</title>
    <link rel="icon" href="docs/favicon-32x32.png" />
    <link rel="stylesheet" href="docs/swagger-ui.css" />
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/${START}"></script>
  </body>
</html>
`;
/** `validatorUrl: null` because the default validator is an external host. */
const START_SCRIPT = `SwaggerUIBundle({ url: 'openapi.json', dom_id: '#swagger-ui', deepLinking: true, validatorUrl: null });
`;

/** The OpenAPI document and its Swagger UI page. */
@Controller()
@ApiTags('Documentation')
export class OpenApiController {
  constructor(private readonly document: ApiDocument) {}

  @Get('openapi.json')
  @Header('content-type', 'application/json; charset=utf-8')
  @ApiOperation({ operationId: 'openapi', summary: 'The OpenAPI 3.0 document of this API' })
  @ApiResponse({
    status: 200,
    description: 'The document.',
    schema: { type: 'object', example: { openapi: '3.0.3' } },
  })
  async openapi(): Promise<string> {
    return JSON.stringify(await this.document.get());
  }

  @Get('docs')
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('content-security-policy', PAGE_CSP)
  @ApiOperation({ operationId: 'docs', summary: 'Swagger UI for this API' })
  @ApiResponse({ status: 200, description: 'The page.', ...HTML })
  docs(): string {
    return PAGE;
  }

  /** @throws LeafError `LEAF_NOT_FOUND` */
  @Get('docs/:name')
  @ApiOperation({ operationId: 'docsFile', summary: 'A file of the Swagger UI page' })
  @ApiParam({ name: 'name', schema: { type: 'string', enum: FILES, example: FILES[0] } })
  @ApiResponse({ status: 200, description: 'Script, style or image.', ...contentOf('*/*', 'The file.') })
  @ApiProblems('LEAF_NOT_FOUND')
  async file(@Param('name') name: string, @Res() reply: FastifyReply): Promise<void> {
    const [type, body] = name === START ? [SWAGGER_UI['swagger-ui-bundle.js'], START_SCRIPT] : await shippedFile(name);
    void reply.type(type).send(body);
  }
}

/** A file of swagger-ui-dist. */
async function shippedFile(name: string): Promise<readonly [string, Buffer]> {
  const type = Object.hasOwn(SWAGGER_UI, name) ? SWAGGER_UI[name as keyof typeof SWAGGER_UI] : undefined;
  if (type === undefined) throw new LeafError('LEAF_NOT_FOUND', 'Unknown file of the Swagger UI page. Open /docs.');
  const folder = dirname(createRequire(__filename).resolve('swagger-ui-dist/package.json'));
  return [type, await readFile(join(folder, name))];
}
