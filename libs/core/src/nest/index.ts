// For Nest applications with any IdService: the rest of this package does not need Nest.
export { type HttpApplication, serializeBigInts } from './bigint-json';
export { LeafExceptionFilter } from './leaf-exception.filter';
