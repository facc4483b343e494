import { Reflector } from '@nestjs/core';

/** The header that names who has given an order to the cluster; a server adds it when it passes the order on. */
export const ORDERED_BY = 'leaf-ordered-by';

/** The route also accepts a cluster token: other servers pass orders on to it. */
export const ClusterOrder = Reflector.createDecorator<true>();
