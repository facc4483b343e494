package io.github.leafids.itjpa;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.leafids.LeafClient;
import io.github.leafids.hibernate.LeafId;
import io.github.leafids.it.LeafServer;
import io.github.leafids.itwrong.Wrong;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.MappedSuperclass;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

class HibernateTest {
  private static LeafServer server;

  @BeforeAll
  static void start() throws Exception {
    server = new LeafServer();
  }

  @AfterAll
  static void stop() throws Exception {
    server.close();
  }

  @Test
  void entities_of_Spring_Boot_take_their_ids_from_the_bean() {
    try (ConfigurableApplicationContext context = run("--leaf.servers=" + server.url, "--leaf.token=" + LeafServer.TOKEN)) {
      LeafClient client = context.getBean(LeafClient.class);
      insert(context.getBean(EntityManagerFactory.class), client, client.next("order"));
    }
  }

  @Test
  void entities_without_Spring_take_their_ids_from_the_client_of_the_setting() {
    Configuration settings = configuration(Invoice.class, Event.class, Trace.class);
    try (LeafClient client = LeafClient.builder().servers(server.url).workerToken(LeafServer.TOKEN).build();
        SessionFactory sessions = settings.addProperties(with(client)).buildSessionFactory()) {
      insert(sessions, client, client.next("order"));
    }
  }

  @Test
  void without_a_client_the_session_factory_is_refused() {
    Throwable error = assertThrows(RuntimeException.class, () -> configuration(Invoice.class).buildSessionFactory());
    assertTrue(hasCause(error, "@LeafId found no LeafClient"), error.toString());
    Throwable inSpring = assertThrows(RuntimeException.class, () -> run());
    assertTrue(hasCause(inSpring, "@LeafId found no LeafClient"), inSpring.toString());
  }

  @Test
  void an_attribute_of_another_type_is_refused() {
    Throwable error = assertThrows(RuntimeException.class,
        () -> configuration(Wrong.class).buildSessionFactory());
    assertTrue(hasCause(error, "@LeafId requires long, Long or String"), error.toString());
  }

  private static void insert(EntityManagerFactory factory, LeafClient client, long before) {
    try (EntityManager manager = factory.createEntityManager()) {
      manager.getTransaction().begin();
      List<Invoice> invoices = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        invoices.add(new Invoice());
        manager.persist(invoices.get(i));
        Event event = new Event();
        manager.persist(event);
        Trace trace = new Trace();
        manager.persist(trace);
        int worker = client.snapshot().window().get().workerId();
        assertEquals(worker, client.decode(event.getId()).workerId());
        assertEquals(worker, client.decode(Long.parseLong(trace.id)).workerId());
      }
      manager.getTransaction().commit();
      for (int i = 0; i < 300; i++) assertEquals(before + 1 + i, invoices.get(i).id);
      assertEquals(300L, manager.createQuery("select count(i) from Invoice i", Long.class).getSingleResult());
    }
  }

  private static ConfigurableApplicationContext run(String... args) {
    return new SpringApplicationBuilder(JpaApplication.class).web(WebApplicationType.NONE)
        .properties("leaf.mybatis-plus.enabled=false").run(args);
  }

  private static Configuration configuration(Class<?>... entities) {
    Configuration configuration = new Configuration().setProperty("hibernate.connection.url", "jdbc:h2:mem:plain")
        .setProperty("hibernate.hbm2ddl.auto", "create-drop");
    for (Class<?> entity : entities) configuration.addAnnotatedClass(entity);
    return configuration;
  }

  private static Properties with(LeafClient client) {
    Properties properties = new Properties();
    properties.put(LeafId.CLIENT, client);
    return properties;
  }

  private static boolean hasCause(Throwable error, String message) {
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      if (String.valueOf(cause.getMessage()).contains(message)) return true;
    }
    return false;
  }

  @SpringBootApplication
  static class JpaApplication {}

  @Entity(name = "Invoice")
  static class Invoice {
    @Id
    @LeafId("order")
    Long id;
  }

  @MappedSuperclass
  abstract static class Identified {
    private long id;

    @Id
    @LeafId
    public long getId() { return id; }
    public void setId(long id) { this.id = id; }
  }

  @Entity(name = "Event")
  static class Event extends Identified {}

  @Entity(name = "Trace")
  static class Trace {
    @Id
    @LeafId
    String id;
  }
}
