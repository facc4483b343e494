package io.github.leafids.it;

import io.github.leafids.hibernate.LeafId;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import java.io.IOException;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** As the replica of MyBatis-Plus, with an entity of Hibernate. */
@SpringBootApplication
public class Replica {
  public static void main(String[] args) throws IOException {
    try (ConfigurableApplicationContext context = SpringApplication.run(Replica.class, args)) {
      System.out.println("READY " + ProcessHandle.current().pid());
      System.in.read();
      for (int rows = Integer.parseInt(args[0]); rows > 0; rows--) {
        try (EntityManager manager = context.getBean(EntityManagerFactory.class).createEntityManager()) {
          manager.getTransaction().begin();
          Invoice invoice = new Invoice();
          manager.persist(invoice);
          manager.getTransaction().commit();
          System.out.println("ID " + invoice.id);
        }
      }
    }
  }

  @Entity(name = "Invoice")
  static class Invoice {
    @Id
    @LeafId
    Long id;
  }
}
