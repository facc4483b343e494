package io.github.leafids.hibernate;

import io.github.leafids.LeafClient;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.hibernate.annotations.IdGeneratorType;

/**
 * The identifier comes from Leaf: {@code @LeafId("order")} takes it from a tag, {@code @LeafId} is a snowflake ID. The
 * attribute is a {@code long}, {@code Long} or {@code String}.
 *
 * <p>The client is the bean {@link LeafClient} of the Spring context, or the value of {@link #CLIENT} in the settings
 * of Hibernate.
 */
@IdGeneratorType(LeafIdGenerator.class)
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD, ElementType.METHOD})
public @interface LeafId {
  /** Name of the setting whose value is the {@link LeafClient}; it wins over a bean. */
  String CLIENT = "leaf.client";

  /** The tag; empty for a snowflake ID. */
  String value() default "";
}
