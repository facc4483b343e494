package io.github.leafids.spring;

import io.github.leafids.LeafClient;

/** A bean of this type sets options of the client that have no property. Called after the properties are applied. */
@FunctionalInterface
public interface LeafClientBuilderCustomizer {
  void customize(LeafClient.Builder builder);
}
