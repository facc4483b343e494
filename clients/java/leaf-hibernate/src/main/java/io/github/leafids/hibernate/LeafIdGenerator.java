package io.github.leafids.hibernate;

import io.github.leafids.LeafClient;
import io.github.leafids.LeafException;
import java.lang.reflect.Member;
import java.util.EnumSet;
import org.hibernate.MappingException;
import org.hibernate.engine.config.spi.ConfigurationService;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.generator.AnnotationBasedGenerator;
import org.hibernate.generator.BeforeExecutionGenerator;
import org.hibernate.generator.EventType;
import org.hibernate.generator.EventTypeSets;
import org.hibernate.generator.GeneratorCreationContext;
import org.hibernate.resource.beans.spi.ManagedBeanRegistry;
import org.hibernate.service.ServiceRegistry;

/** The generator of {@link LeafId}. */
public class LeafIdGenerator implements BeforeExecutionGenerator, AnnotationBasedGenerator<LeafId> {
  private transient LeafClient client;
  private String tag;
  private boolean isText;

  @Override
  public void initialize(LeafId annotation, Member member, GeneratorCreationContext context) {
    tag = annotation.value();
    Class<?> type = context.getProperty().getType().getReturnedClass();
    isText = type == String.class;
    if (!isText && type != Long.class && type != long.class) {
      throw new MappingException("@LeafId requires long, Long or String, not " + type.getName() + ": " + member);
    }
    client = clientOf(context.getServiceRegistry());
  }

  /**
   * Waits up to the timeout of the client.
   *
   * @throws LeafException why there is no ID
   */
  @Override
  public Object generate(SharedSessionContractImplementor session, Object owner, Object current, EventType event) {
    Long id = tag.isEmpty() ? client.snowflakes(1)[0] : client.next(tag);
    return isText ? id.toString() : id;
  }

  @Override
  public EnumSet<EventType> getEventTypes() {
    return EventTypeSets.INSERT_ONLY;
  }

  private static LeafClient clientOf(ServiceRegistry services) {
    Object setting = services.getService(ConfigurationService.class).getSettings().get(LeafId.CLIENT);
    if (setting instanceof LeafClient) return (LeafClient) setting;
    try {
      return services.getService(ManagedBeanRegistry.class).getBean(ClientBean.class).getBeanInstance().client;
    } catch (RuntimeException error) {
      throw new MappingException("@LeafId found no LeafClient: set leaf.servers in Spring Boot, or the setting "
          + LeafId.CLIENT + " of Hibernate", error);
    }
  }

  /** Spring creates it with the bean {@link LeafClient}. */
  static class ClientBean {
    final LeafClient client;

    ClientBean(LeafClient client) {
      this.client = client;
    }
  }
}
