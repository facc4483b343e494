package io.github.leafids.mybatisplus;

import com.baomidou.mybatisplus.core.incrementer.IdentifierGenerator;
import io.github.leafids.LeafClient;
import io.github.leafids.spring.LeafAutoConfiguration;
import io.github.leafids.spring.LeafClientBuilderCustomizer;
import org.springframework.boot.autoconfigure.AutoConfigureAfter;
import org.springframework.boot.autoconfigure.AutoConfigureBefore;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * {@code ASSIGN_ID} from Leaf. Without {@code leaf.servers} the application does not start: the generator of
 * MyBatis-Plus would issue IDs that can repeat.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(IdentifierGenerator.class)
@ConditionalOnMissingBean(IdentifierGenerator.class)
@ConditionalOnProperty(name = "leaf.mybatis-plus.enabled", matchIfMissing = true)
@AutoConfigureAfter(LeafAutoConfiguration.class)
@AutoConfigureBefore(name = {
    "com.baomidou.mybatisplus.autoconfigure.IdentifierGeneratorAutoConfiguration",
    "com.baomidou.mybatisplus.autoconfigure.MybatisPlusAutoConfiguration"})
public class LeafMybatisPlusAutoConfiguration {
  @Bean
  IdentifierGenerator leafIdentifierGenerator(LeafClient client) {
    return new LeafIdentifierGenerator(client);
  }

  /** Acquires the worker ID at the start, so that the first insert does not wait for it. */
  @Bean
  LeafClientBuilderCustomizer leafSnowflakePreload() {
    return builder -> builder.preloadSnowflake();
  }
}
