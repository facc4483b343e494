import { Controller, Get, Header } from '@nestjs/common';
import { PLAIN_PAGE_CSP } from '../http/responses/content-security';
import { ApiDocument } from './api-document';
import { docsPage } from './docs-page';
import { DOCS_STYLE } from './docs-style';
import { Describe, htmlPage, json } from './route-description';
import { text } from './schema';

/** The description of this API, for programs and for people. */
@Controller()
export class OpenApiController {
  constructor(private readonly document: ApiDocument) {}

  @Get('openapi.json')
  @Header('content-type', 'application/json; charset=utf-8')
  @Describe({
    id: 'openapi',
    group: 'Documentation',
    summary: 'This API in OpenAPI 3.0',
    answers: { 200: json({ type: 'object', example: { openapi: '3.0.3' } }, 'The document.') },
  })
  async openapi(): Promise<string> {
    return JSON.stringify(await this.document.get());
  }

  @Get('docs')
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('content-security-policy', PLAIN_PAGE_CSP)
  @Describe({
    id: 'docs',
    group: 'Documentation',
    summary: 'This API for people',
    answers: { 200: htmlPage() },
  })
  async docs(): Promise<string> {
    return docsPage(await this.document.get());
  }

  @Get('docs/style.css')
  @Header('content-type', 'text/css; charset=utf-8')
  @Describe({
    id: 'docsStyle',
    group: 'Documentation',
    summary: 'The style sheet of that page',
    answers: { 200: { description: 'The style sheet.', type: 'text/css', schema: text('CSS.', ':root {…') } },
  })
  style(): string {
    return DOCS_STYLE;
  }
}
