package io.github.leafids.spring;

import io.github.leafids.LeafClient;
import io.github.leafids.LeafException;
import io.github.leafids.LeafListener;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.List;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** {@link LeafClient} as a bean if {@code leaf.servers} is set, with health and metrics. */
@Configuration(proxyBeanMethods = false)
@Conditional(LeafAutoConfiguration.OnServers.class)
@EnableConfigurationProperties(LeafProperties.class)
@Import({LeafHealthConfiguration.Boot2And3.class, LeafHealthConfiguration.Boot4.class})
public class LeafAutoConfiguration {
  @Bean(destroyMethod = "close")
  @ConditionalOnMissingBean
  LeafClient leafClient(LeafProperties properties, ObjectProvider<LeafListener> listener,
      ObjectProvider<LeafClientBuilderCustomizer> customizers) {
    LeafClient.Builder builder = properties.builder().listener(listener.getIfAvailable(LeafLog::new));
    customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
    return builder.build();
  }

  /** A failure does not stop the application: the Leaf servers may come up later. */
  @Bean
  SmartInitializingSingleton leafPreload(LeafClient client) {
    return () -> {
      try {
        client.ready();
      } catch (LeafException error) {
        LogFactory.getLog(LeafClient.class)
            .warn("The preload is incomplete; the remaining IDs are fetched on first use: " + error);
      }
    };
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(MeterBinder.class)
  static class Metrics {
    @Bean
    @ConditionalOnMissingBean
    LeafMeters leafMeters(LeafClient client) {
      return new LeafMeters(client);
    }
  }

  /** Not @ConditionalOnProperty, which does not match a YAML list. */
  static class OnServers extends SpringBootCondition {
    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
      boolean missing = Binder.get(context.getEnvironment())
          .bind("leaf.servers", Bindable.listOf(LeafProperties.Server.class)).map(List::isEmpty).orElse(true);
      ConditionMessage.Builder message = ConditionMessage.forCondition("Leaf");
      return missing ? ConditionOutcome.noMatch(message.because("the property leaf.servers is not set"))
          : ConditionOutcome.match(message.because("the property leaf.servers is set"));
    }
  }
}
