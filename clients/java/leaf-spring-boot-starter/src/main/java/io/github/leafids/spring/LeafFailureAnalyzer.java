package io.github.leafids.spring;

import io.github.leafids.LeafClient;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.annotation.Order;

/** Names the missing property if the application needs a {@link LeafClient}. Before the analyzers of Spring Boot. */
@Order(0)
class LeafFailureAnalyzer extends AbstractFailureAnalyzer<NoSuchBeanDefinitionException> {
  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, NoSuchBeanDefinitionException cause) {
    if (cause.getBeanType() != LeafClient.class || cause instanceof NoUniqueBeanDefinitionException) return null;
    return new FailureAnalysis("The application needs a LeafClient, and the property leaf.servers is not set.",
        "Set leaf.servers to the URLs of the Leaf servers, such as http://10.0.0.5:8080.", cause);
  }
}
