import { Reflector } from '@nestjs/core';

/** The route also accepts requests that a cluster token signs: other servers pass orders on to it. */
export const ClusterOrder = Reflector.createDecorator<true>();
