package io.github.leafids.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.baomidou.mybatisplus.core.incrementer.IdentifierGenerator;
import com.baomidou.mybatisplus.core.toolkit.IdWorker;
import io.github.leafids.LeafClient;
import io.github.leafids.LeafSnapshot;
import io.github.leafids.mybatisplus.LeafIdentifierGenerator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

class MybatisPlusTest {
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
  void inserts_have_the_worker_id_of_leaf() {
    try (ConfigurableApplicationContext context = DemoApplication.run(server)) {
      OrderMapper orders = context.getBean(OrderMapper.class);
      LeafClient client = context.getBean(LeafClient.class);
      long before = 0;
      for (int i = 0; i < 1000; i++) {
        Order order = new Order();
        order.setName("order " + i);
        orders.insert(order);
        assertTrue(order.id > before);
        before = order.id;
      }
      LeafSnapshot.Window window = client.snapshot().window().get();
      assertEquals(window.workerId(), client.decode(before).workerId());
      assertEquals(1000, window.issued());
      assertNotNull(orders.selectById(before));
      assertEquals(window.workerId(), client.decode(IdWorker.getId()).workerId());
    }
  }

  @Test
  void nextUUID_is_that_of_MyBatis_Plus() {
    try (ConfigurableApplicationContext context = DemoApplication.run(server)) {
      assertEquals(32, context.getBean(IdentifierGenerator.class).nextUUID(new Order()).length());
    }
  }

  @Test
  void does_not_start_without_servers() {
    assertThrows(BeanCreationException.class, () -> DemoApplication.run(WebApplicationType.NONE, new String[0]));
    assertTrue(LastFailure.description.contains("leaf.servers is not set"), LastFailure.description);
  }

  @Test
  void can_be_disabled() {
    String[] properties = {"leaf.mybatis-plus.enabled=false"};
    try (ConfigurableApplicationContext context = DemoApplication.run(WebApplicationType.NONE, properties)) {
      assertEquals(0, context.getBeanNamesForType(LeafIdentifierGenerator.class).length);
      Order order = new Order();
      assertEquals(1, context.getBean(OrderMapper.class).insert(order));
      assertNotNull(order.id);
    }
  }

  @Test
  void a_generator_of_the_application_wins() {
    try (ConfigurableApplicationContext context =
        DemoApplication.run(WebApplicationType.NONE, DemoApplication.with(server), Own.class)) {
      Order order = new Order();
      context.getBean(OrderMapper.class).insert(order);
      assertEquals(42, order.id);
    }
  }

  @Test
  void an_insert_waits_for_the_first_worker_id_and_fails_after_the_timeout() throws Exception {
    try (LeafServer late = new LeafServer()) {
      String[] properties = DemoApplication.with(late, "leaf.timeout=1s");
      properties[1] = "leaf.token=another-token-than-that-of-the-server";
      try (ConfigurableApplicationContext context = DemoApplication.run(WebApplicationType.NONE, properties)) {
        assertInstanceOf(LeafIdentifierGenerator.class, context.getBean(IdentifierGenerator.class));
        OrderMapper orders = context.getBean(OrderMapper.class);
        assertThrows(RuntimeException.class, () -> orders.insert(new Order()));
        assertEquals(0, orders.selectCount(null));
      }
    }
  }

  static class Own {
    @Bean
    IdentifierGenerator own() {
      return entity -> 42L;
    }
  }
}
