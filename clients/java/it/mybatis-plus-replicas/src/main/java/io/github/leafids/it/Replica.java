package io.github.leafids.it;

import com.baomidou.mybatisplus.annotation.TableName;
import com.baomidou.mybatisplus.core.mapper.BaseMapper;
import java.io.IOException;
import org.apache.ibatis.annotations.Mapper;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * One of several replicas: prints {@code READY}, waits for a line on the standard input, inserts as many rows as its
 * first argument says, and prints their IDs.
 */
@SpringBootApplication
public class Replica {
  public static void main(String[] args) throws IOException {
    try (ConfigurableApplicationContext context = SpringApplication.run(Replica.class, args)) {
      OrderMapper orders = context.getBean(OrderMapper.class);
      System.out.println("READY " + ProcessHandle.current().pid());
      System.in.read();
      for (int rows = Integer.parseInt(args[0]); rows > 0; rows--) {
        Order order = new Order();
        orders.insert(order);
        System.out.println("ID " + order.getId());
      }
    }
  }

  /** The ID is ASSIGN_ID, the default of MyBatis-Plus. */
  @TableName("orders")
  public static class Order {
    private Long id;
    private String name = "order";

    public Long getId() { return id; }
    public void setId(Long id) { this.id = id; }
    public String getName() { return name; }
    public void setName(String name) { this.name = name; }
  }

  @Mapper
  public interface OrderMapper extends BaseMapper<Order> {}
}
